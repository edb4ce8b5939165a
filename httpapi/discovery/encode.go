package discovery

import (
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// Media types of API objects.
const (
	jsonType     = "application/json"
	yamlType     = "application/yaml"
	protobufType = "application/vnd.kubernetes.protobuf"
)

// object is an API object with a protobuf form.
type object interface {
	GetObjectKind() schema.ObjectKind
	Marshal() ([]byte, error)
}

// formsOf encodes an object in the three encodings of the API.
func formsOf(o object) ([]form, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	text = append(text, '\n')
	asYAML, err := yaml.JSONToYAML(text)
	if err != nil {
		return nil, err
	}
	asProtobuf, err := enveloped(o)
	if err != nil {
		return nil, err
	}
	return []form{
		{mediaTypes: []string{jsonType}, contentType: jsonType, body: text, indentable: true},
		{mediaTypes: []string{yamlType}, contentType: yamlType, body: asYAML},
		{mediaTypes: []string{protobufType}, contentType: protobufType, body: asProtobuf},
	}, nil
}

// aggregatedFormsOf encodes an aggregated document, which clients keep and ask for by its ETag. Both encodings have one
// ETag: by the Vary header they are told apart.
func aggregatedFormsOf(o object) ([]form, error) {
	forms, err := formsOf(o)
	if err != nil {
		return nil, err
	}
	header := http.Header{
		"Cache-Control": {"public"},
		"Vary":          {"Accept"},
		"Etag":          {quotedHash(forms[0].body)},
	}
	var out []form
	for _, f := range []form{forms[0], forms[2]} {
		f.aggregated, f.indentable = true, false
		f.contentType += aggregatedParameters
		f.header, f.etag = header, header.Get("Etag")
		out = append(out, f)
	}
	return out, nil
}

// enveloped is what application/vnd.kubernetes.protobuf means: four bytes, then a runtime.Unknown around the object.
func enveloped(o object) ([]byte, error) {
	raw, err := o.Marshal()
	if err != nil {
		return nil, err
	}
	apiVersion, kind := o.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
	unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: raw}
	body, err := unknown.Marshal()
	return append([]byte("k8s\x00"), body...), err
}

// hash is how kube-apiserver hashes documents.
func hash(body []byte) string { return fmt.Sprintf("%X", sha512.Sum512(body)) }

func quotedHash(body []byte) string { return `"` + hash(body) + `"` }
