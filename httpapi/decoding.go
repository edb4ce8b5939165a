package httpapi

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasehold/leasehold/httpapi/media"
	"github.com/leasehold/leasehold/httpapi/object"
)

// decodeObject reads the object that a create or an update sends. What is wrong with its fields but no error is told as
// warnings.
func decodeObject(q *request, options *metav1.PatchOptions) (object.Object, error) {
	encoding, err := q.encodings.OfBody(q.http.Header.Get("Content-Type"))
	if err != nil {
		return nil, err
	}
	sent, warnings, err := q.kind.Decode(q.body, encoding, validationOf(options))
	if err != nil {
		return nil, err
	}
	for _, warning := range warnings {
		q.warn(warning)
	}
	return sent, nil
}

func validationOf(options *metav1.PatchOptions) media.Validation {
	switch options.FieldValidation {
	case metav1.FieldValidationIgnore:
		return media.Ignore
	case metav1.FieldValidationStrict:
		return media.Strict
	}
	return media.Warn
}

// decodeDeleteOptions reads the options that a delete sends as its body.
func decodeDeleteOptions(q *request) (*metav1.DeleteOptions, error) {
	encoding, err := q.encodings.OfBody(q.http.Header.Get("Content-Type"))
	if err != nil {
		return nil, err
	}
	return media.DecodeDeleteOptions(q.body, encoding)
}
