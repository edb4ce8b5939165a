package httpapi

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"mime"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1alpha2 "k8s.io/api/coordination/v1alpha2"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1beta1 "k8s.io/apimachinery/pkg/apis/meta/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	protobufserializer "k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	apiwatch "k8s.io/apimachinery/pkg/watch"
)

// The reader of answers: apimachinery's own decoders, strict, with every kind that a resource's path may answer.
var (
	answerable  = newAnswerable()
	jsonAnswer  = textAnswer(false, true)
	yamlAnswer  = textAnswer(true, true)
	looseJSON   = textAnswer(false, false)
	protoAnswer = protobufserializer.NewSerializer(answerable, answerable)
)

func newAnswerable() *runtime.Scheme {
	s := runtime.NewScheme()
	v1 := schema.GroupVersion{Version: "v1"}
	s.AddKnownTypes(v1, &metav1.Status{}, &corev1.Namespace{}, &corev1.NamespaceList{})
	for _, add := range []func(*runtime.Scheme) error{
		coordinationv1.AddToScheme, coordinationv1beta1.AddToScheme, coordinationv1alpha2.AddToScheme,
		metav1.AddMetaToScheme, metav1beta1.AddMetaToScheme,
	} {
		if err := add(s); err != nil {
			panic(err)
		}
	}
	s.AddKnownTypes(metav1beta1.SchemeGroupVersion, &metav1beta1.Table{})
	return s
}

func textAnswer(yaml, strict bool) runtime.Serializer {
	return jsonserializer.NewSerializerWithOptions(jsonserializer.DefaultMetaFactory, answerable, answerable,
		jsonserializer.SerializerOptions{Yaml: yaml, Strict: strict})
}

// answerEncoding is an encoding of answers and bodies.
type answerEncoding struct {
	mediaType  string
	serializer runtime.Serializer
	binary     bool // has bytes and times that JSON has no form for
}

var answerEncodings = []answerEncoding{
	{"application/json", jsonAnswer, false},
	{"application/yaml", yamlAnswer, false},
	{"application/vnd.kubernetes.protobuf", protoAnswer, true},
}

func decoderOf(mediaType string) (runtime.Serializer, bool) {
	for _, encoding := range answerEncodings {
		if encoding.mediaType == mediaType {
			return encoding.serializer, true
		}
	}
	return cborAnswer, mediaType == "application/cbor"
}

// read decodes a whole answer, or each event of a stream, in the encoding that its Content-Type names.
func (a *recorded) read(stream bool) (objects []runtime.Object, events []string, err error) {
	mediaType, params, err := mime.ParseMediaType(a.header.Get("Content-Type"))
	if err != nil {
		return nil, nil, fmt.Errorf("Content-Type %q: %w", a.header["Content-Type"], err)
	}
	decoder, ok := decoderOf(mediaType)
	if !ok {
		return nil, nil, fmt.Errorf("Content-Type %q is none of a resource's", mediaType)
	}
	if !stream {
		object, err := decodeAnswer(decoder, a.body.Bytes())
		return []runtime.Object{object}, nil, err
	}
	if decoder == protoAnswer && params["stream"] != "watch" {
		return nil, nil, fmt.Errorf("Content-Type %q of a stream", a.header["Content-Type"])
	}
	for rest := a.body.Bytes(); len(rest) > 0; {
		kind, raw, next, err := cutEvent(decoder, rest)
		if err != nil {
			return nil, nil, err
		}
		object, err := decodeAnswer(decoder, raw)
		if err != nil {
			return nil, nil, fmt.Errorf("%s event: %w", kind, err)
		}
		objects, events, rest = append(objects, object), append(events, kind), next
	}
	return objects, events, nil
}

// cutEvent takes one watch event off a stream.
func cutEvent(decoder runtime.Serializer, stream []byte) (kind string, object, rest []byte, err error) {
	var event metav1.WatchEvent
	if decoder == protoAnswer {
		if len(stream) < 4 || uint64(binary.BigEndian.Uint32(stream)) > uint64(len(stream)-4) {
			return "", nil, nil, fmt.Errorf("a frame of %d bytes is cut off", len(stream))
		}
		size := 4 + int(binary.BigEndian.Uint32(stream))
		if err := event.Unmarshal(stream[4:size]); err != nil {
			return "", nil, nil, err
		}
		rest = stream[size:]
	} else {
		line, after, ok := bytes.Cut(stream, []byte("\n"))
		if !ok {
			return "", nil, nil, fmt.Errorf("an event does not end: %.100q", line)
		}
		if err := json.Unmarshal(line, &event); err != nil {
			return "", nil, nil, fmt.Errorf("an event that is no JSON: %w: %.300q", err, line)
		}
		rest = after
	}
	switch apiwatch.EventType(event.Type) {
	case apiwatch.Added, apiwatch.Modified, apiwatch.Deleted, apiwatch.Bookmark, apiwatch.Error:
		return event.Type, event.Object.Raw, rest, nil
	}
	return "", nil, nil, fmt.Errorf("an event of type %q", event.Type)
}

func decodeAnswer(decoder runtime.Decoder, body []byte) (runtime.Object, error) {
	object, _, err := decoder.Decode(body, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %.300q", err, body)
	}
	return object, nil
}

// statusFault says what is wrong with a Status for an answer of this code, "" for nothing.
func statusFault(status *metav1.Status, code int) string {
	switch {
	case int(status.Code) != code && !(status.Status == metav1.StatusSuccess && status.Code == 0):
		return fmt.Sprintf("says code %d", status.Code)
	case (status.Status == metav1.StatusFailure) != (code >= 400):
		return fmt.Sprintf("says %q", status.Status)
	case code >= 400 && status.Message == "":
		return "tells nothing"
	case code >= 400 && status.Reason == "" && code != 500:
		return "has no reason"
	case strings.Contains(status.Message, errPanicked.Error()):
		return "tells of a panic"
	}
	return ""
}
