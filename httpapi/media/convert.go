package media

import (
	"bytes"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	protobufserializer "k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"sigs.k8s.io/yaml"
)

// Convert turns an answer's JSON, with its closing newline, into what was asked for: itself, indented, YAML or CBOR.
func (a Accepted) Convert(text []byte) ([]byte, error) {
	switch {
	case a.Encoding == YAML:
		return yaml.JSONToYAML(escaped(text))
	case a.Encoding == CBOR:
		return appendCBOR([]byte(selfDescribed), text)
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

// escaped returns JSON in which no character stands for itself that the YAML library refuses to read, or takes for the end of
// a line. kube-apiserver answers 500 for an object with the first in it, and a blank in place of the second.
func escaped(text []byte) []byte {
	outside := func(r rune) bool {
		return r >= 0x7f && r <= 0x9f || r == 0xfeff || r == 0xfffe || r == 0xffff
	}
	if !bytes.ContainsFunc(text, outside) {
		return text
	}
	var out bytes.Buffer
	for _, r := range string(text) {
		if outside(r) {
			fmt.Fprintf(&out, `\u%04x`, r) // such characters are in strings only
		} else {
			out.WriteRune(r)
		}
	}
	return out.Bytes()
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
