package fieldmanager

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// decode reads an applied configuration. Of several YAML documents it takes the first.
func decode(body []byte) (*unstructured.Unstructured, error) {
	if _, err := yaml.ToJSON(body); err != nil {
		return nil, malformed(fmt.Sprintf("error encoding patch: %v", err))
	}
	config := &unstructured.Unstructured{Object: map[string]any{}}
	if err := yaml.Unmarshal(body, &config.Object); err != nil {
		return nil, malformed(fmt.Sprintf("error decoding patch: %v", err))
	}
	return config, nil
}

// repeatedKeys looks for keys that stand twice in one map: a warning, or an error under Strict. Empty means Warn.
func repeatedKeys(body []byte, fieldValidation string) (warnings []string, err error) {
	if fieldValidation == metav1.FieldValidationIgnore {
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
