package fieldmanager

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/leasehold/leasehold/httpapi/media"
)

// decode reads an applied configuration. Of several YAML documents it takes the first.
func decode(body []byte, encoding media.Encoding) (*unstructured.Unstructured, error) {
	config := &unstructured.Unstructured{Object: map[string]any{}}
	unmarshal := media.UnmarshalCBOR
	if encoding != media.CBOR {
		unmarshal = func(body []byte, into any) error { return yaml.Unmarshal(body, into) }
		if _, err := yaml.ToJSON(body); err != nil {
			return nil, malformed(fmt.Sprintf("error encoding patch: %v", err))
		}
	}
	if err := unmarshal(body, &config.Object); err != nil {
		return nil, malformed(fmt.Sprintf("error decoding patch: %v", err))
	}
	return config, nil
}

// repeatedKeys looks for keys that stand twice in one map of YAML: a warning, or an error under Strict. Empty means Warn. In
// CBOR they are no map at all.
func repeatedKeys(body []byte, encoding media.Encoding, fieldValidation string) (warnings []string, err error) {
	if encoding == media.CBOR || fieldValidation == metav1.FieldValidationIgnore {
		return nil, nil
	}
	err = yaml.UnmarshalStrict(body, &map[string]any{})
	switch {
	case err == nil:
		return nil, nil
	case fieldValidation == metav1.FieldValidationStrict:
		return nil, malformed(fmt.Sprintf("error strict decoding patch: %v", err))
	}
	return []string{err.Error()}, nil
}
