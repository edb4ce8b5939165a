package conformance

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1alpha2 "k8s.io/api/coordination/v1alpha2"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"sigs.k8s.io/yaml"
)

const protobufType = "application/vnd.kubernetes.protobuf"

// cborTag says of the bytes after it that they are CBOR.
var cborTag = []byte{0xd9, 0xd9, 0xf7}

// kinds knows the Go types that protobuf bodies need.
var kinds = newKinds()

func newKinds() *runtime.Scheme {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	for _, add := range []func(*runtime.Scheme) error{
		metav1.AddMetaToScheme, corev1.AddToScheme,
		coordinationv1.AddToScheme, coordinationv1beta1.AddToScheme, coordinationv1alpha2.AddToScheme,
	} {
		utilruntime.Must(add(scheme))
	}
	return scheme
}

func protobufSerializer() *protobuf.Serializer { return protobuf.NewSerializer(kinds, kinds) }

// encode turns JSON into a body of the encoding: json (as it is) if empty, yaml, cbor or protobuf.
func encode(text []byte, encoding string) ([]byte, error) {
	switch encoding {
	case "":
		return text, nil
	case "yaml":
		return yaml.JSONToYAML(text)
	case "cbor":
		return encodeCBOR(text)
	case "protobuf":
		return encodeProtobuf(text)
	}
	return nil, fmt.Errorf("unknown encoding %q", encoding)
}

func encodeCBOR(text []byte) ([]byte, error) {
	var value any
	if err := decodeJSON(text, &value); err != nil {
		return nil, err
	}
	out, err := direct.Marshal(withoutJSONNumbers(value))
	return append(bytes.Clone(cborTag), out...), err
}

func encodeProtobuf(text []byte) ([]byte, error) {
	var head metav1.TypeMeta
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, err
	}
	object, err := kinds.New(head.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, object); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = protobufSerializer().Encode(object, &out)
	return out.Bytes(), err
}

// decode turns a body into plain values, which are those that JSON has, numbers as json.Number. What cannot be read as its
// Content-Type says stays text.
func decode(contentType string, body []byte) any {
	if len(body) == 0 {
		return nil
	}
	media, _, _ := mime.ParseMediaType(contentType)
	var value any
	var err error
	switch {
	case strings.Contains(media, "protobuf"):
		value, err = decodeProtobuf(body)
	case strings.Contains(media, "cbor"):
		value, err = decodeCBOR(body)
	case strings.HasSuffix(media, "yaml"):
		var text []byte
		if text, err = yaml.YAMLToJSON(body); err == nil {
			err = decodeJSON(text, &value)
		}
	case strings.HasSuffix(media, "json"):
		err = decodeJSON(body, &value)
	default:
		return string(body)
	}
	if err != nil {
		return string(body)
	}
	return value
}

func decodeProtobuf(body []byte) (any, error) {
	object, kind, err := protobufSerializer().Decode(body, nil, nil)
	if err != nil {
		return nil, err
	}
	object.GetObjectKind().SetGroupVersionKind(*kind)
	return plain(object)
}

func decodeCBOR(body []byte) (any, error) {
	var value any
	if err := direct.Unmarshal(bytes.TrimPrefix(body, cborTag), &value); err != nil {
		return nil, err
	}
	return plain(value)
}

// plain turns any value into the plain values of its JSON. The result shares nothing with the argument.
func plain(value any) (any, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var out any
	err = decodeJSON(text, &out)
	return out, err
}

// decodeJSON reads one value and nothing after it, and keeps numbers as they are written.
func decodeJSON(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("more than one JSON value")
	}
	return nil
}

// withoutJSONNumbers replaces each json.Number, in place, by an int64 or a float64.
func withoutJSONNumbers(value any) any {
	switch here := value.(type) {
	case map[string]any:
		for key, inner := range here {
			here[key] = withoutJSONNumbers(inner)
		}
	case []any:
		for i, inner := range here {
			here[i] = withoutJSONNumbers(inner)
		}
	case json.Number:
		if whole, err := here.Int64(); err == nil {
			return whole
		}
		broken, _ := here.Float64() // decoded from JSON, so it is a number
		return broken
	}
	return value
}

func unzip(body []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(reader)
}
