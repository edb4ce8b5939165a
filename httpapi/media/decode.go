package media

import (
	"fmt"
	"slices"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	internalscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	cborserializer "k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	protobufserializer "k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/leasehold/leasehold/httpapi/candidate"
	"github.com/leasehold/leasehold/httpapi/lease"
	"github.com/leasehold/leasehold/httpapi/object"
	"github.com/leasehold/leasehold/httpapi/review"
)

// Validation is what happens to fields of a body that are unknown or there twice.
type Validation uint8

// The values of the query's fieldValidation; Warn is the default.
const (
	Warn   Validation = iota // each is told as a warning
	Ignore                   // nobody is told
	Strict                   // the body is refused
)

// BodyError says that a body is not what belongs there: 400.
type BodyError struct {
	Message string
}

func (e *BodyError) Error() string { return e.Message }

// Decode reads an object from a request body. A kind or apiVersion that is missing is this one; the result carries neither.
// The error is a *BodyError. The result shares no memory with body.
func (c *Codec) Decode(body []byte, encoding Encoding, validation Validation) (o object.Object, warnings []string, err error) {
	if encoding == JSON {
		if o := c.scan(body); o != nil {
			return o, nil, nil
		}
	}
	if c.LenientTimes {
		return c.decodeLenientTimes(body, encoding, validation)
	}
	return c.decode(body, encoding, validation)
}

// decode is Decode by way of apimachinery alone.
func (c *Codec) decode(body []byte, encoding Encoding, validation Validation) (object.Object, []string, error) {
	return Decode(&c.Kind, body, encoding, validation)
}

// Decode reads an object of a kind that has no Codec, for it is not stored.
func Decode(k *object.Kind, body []byte, encoding Encoding, validation Validation) (object.Object, []string, error) {
	if encoding == CBOR && !atMostItems(body, maxCBORItems) {
		return nil, nil, errTooManyItems
	}
	decoders := &lenient
	if validation != Ignore {
		decoders = &strict
	}
	expected := k.GroupVersionKind
	decoded, kind, err := decoders[encoding].Decode(body, &expected, nil)
	var warnings []string
	if problems, ok := runtime.AsStrictDecodingError(err); ok && decoded != nil && validation == Warn {
		for _, problem := range problems.Errors() {
			warnings = append(warnings, problem.Error())
		}
		err = nil
	}
	if err != nil {
		return nil, nil, undecodable(err, kind, expected, body)
	}
	o, ok := decoded.(object.Object)
	switch {
	case !ok || kind.GroupKind() != expected.GroupKind():
		return nil, nil, undecodable(unconvertible(kind, expected), kind, expected, body)
	case *kind != expected:
		return nil, nil, &BodyError{Message: fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)",
			kind.GroupVersion(), k.GroupVersion())}
	}
	*object.Type(o) = metav1.TypeMeta{}
	return o, warnings, nil
}

// DecodeDeleteOptions reads the options that a delete may carry in its body. Every group and version has them, also those that
// there are not. The error is a *BodyError.
func DecodeDeleteOptions(body []byte, encoding Encoding) (*metav1.DeleteOptions, error) {
	if encoding == CBOR && !atMostItems(body, maxCBORItems) {
		return nil, errTooManyItems
	}
	expected := metav1.SchemeGroupVersion.WithKind("DeleteOptions")
	options := new(metav1.DeleteOptions)
	decoder := internalscheme.Codecs.DecoderToVersion(ofOptions[encoding], expected.GroupVersion())
	object, _, err := decoder.Decode(body, &expected, options)
	if err != nil {
		return nil, &BodyError{Message: err.Error()}
	}
	if object != options {
		return nil, &BodyError{Message: "decoded object cannot be converted to DeleteOptions"}
	}
	return options, nil
}

// undecodable words an error as kube-apiserver does, which knows more kinds and fails to convert them.
func undecodable(err error, kind *schema.GroupVersionKind, expected schema.GroupVersionKind, body []byte) error {
	if kind == nil || kind.Kind == "" {
		return &BodyError{Message: fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v (%s)", expected.Kind, err, summary(body))}
	}
	if runtime.IsNotRegisteredError(err) && kind.GroupVersion() == (schema.GroupVersion{Version: "v1"}) {
		err = unconvertible(kind, expected)
	}
	return &BodyError{Message: fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", kind.Kind, kind.Version, expected.Kind, err)}
}

// unconvertible is what becomes of a kind that kube-apiserver knows, where another is expected.
func unconvertible(kind *schema.GroupVersionKind, expected schema.GroupVersionKind) error {
	group, _, _ := strings.Cut(expected.Group, ".")
	return fmt.Errorf("converting (%s.%s) to (%s.%s): unknown conversion", kind.Version, kind.Kind, group, expected.Kind)
}

// summary shows the beginning of a body, as hexadecimal when it is no JSON object.
func summary(body []byte) string {
	const limit = 30
	cut, more := body, ""
	if len(body) > limit {
		cut, more = body[:limit], " ..."
	}
	switch {
	case len(body) == 0:
		return "<empty>"
	case body[0] == '{':
		return string(cut) + more
	}
	return fmt.Sprintf("%x", cut) + more
}

// The generic serializers. They hold no state of their own.
var (
	scheme    = newScheme()
	lenient   = newDecoders(scheme, false)
	strict    = newDecoders(scheme, true)
	ofOptions = newDecoders(internalscheme.Scheme, false)
)

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	add := func(version, kind string, sample runtime.Object) {
		s.AddKnownTypeWithName(schema.GroupVersionKind{Group: coordinationv1.GroupName, Version: version, Kind: kind}, sample)
	}
	for _, version := range slices.Concat(lease.Kind.Versions, lease.Kind.Former) {
		add(version, "Lease", &coordinationv1.Lease{})
		add(version, "LeaseList", &coordinationv1.LeaseList{})
	}
	for _, version := range candidate.Versions {
		add(version, "LeaseCandidate", &coordinationv1beta1.LeaseCandidate{})
		add(version, "LeaseCandidateList", &coordinationv1beta1.LeaseCandidateList{})
	}
	for _, version := range []string{"v1", "v1beta1", "v1alpha2"} {
		add(version, "DeleteOptions", &metav1.DeleteOptions{})
	}
	for _, kind := range []object.Kind{review.Subject, review.Access, review.Rules} {
		s.AddKnownTypeWithName(kind.GroupVersionKind, kind.New())
	}
	s.AddKnownTypes(schema.GroupVersion{Version: "v1"}, &metav1.DeleteOptions{})
	s.AddKnownTypes(metav1.SchemeGroupVersion, &metav1.DeleteOptions{})
	return s
}

func newDecoders(scheme *runtime.Scheme, strict bool) [len(mediaTypes)]runtime.Decoder {
	text := func(yaml bool) runtime.Decoder {
		return jsonserializer.NewSerializerWithOptions(jsonserializer.DefaultMetaFactory, scheme, scheme,
			jsonserializer.SerializerOptions{Yaml: yaml, Strict: strict})
	}
	return [...]runtime.Decoder{
		JSON: text(false), YAML: text(true), Protobuf: protobufserializer.NewSerializer(scheme, scheme),
		CBOR: cborserializer.NewSerializer(scheme, scheme, cborserializer.Strict(strict)),
	}
}
