package media

import (
	"bytes"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	protobufserializer "k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"sigs.k8s.io/yaml"
)

// Convert turns an answer's JSON, with its closing newline, into the text that was asked for: itself, indented, or YAML.
func (a Accepted) Convert(text []byte) ([]byte, error) {
	switch {
	case a.Encoding == YAML:
		return yaml.JSONToYAML(text)
	case a.Encoding == JSON && a.Pretty:
		var out bytes.Buffer
		out.Grow(2 * len(text))
		if err := json.Indent(&out, text[:len(text)-1], "", "  "); err != nil {
			return nil, err
		}
		return out.Bytes(), nil
	}
	return text, nil
}

// Encode renders any object that carries its kind and apiVersion, such as a Status, in the encoding that was asked for.
func (a Accepted) Encode(object runtime.Object) ([]byte, error) {
	var out bytes.Buffer
	if a.Encoding == Protobuf {
		if err := protobufserializer.NewSerializer(nil, nil).Encode(object, &out); err != nil {
			return nil, fmt.Errorf("encode %T: %w", object, err)
		}
		return out.Bytes(), nil
	}
	if err := json.NewEncoder(&out).Encode(object); err != nil {
		return nil, fmt.Errorf("encode %T: %w", object, err)
	}
	return a.Convert(out.Bytes())
}
