package httpapi

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
)

// deleteOptions are those of the body, or if there is none those of the query: the two are never mixed.
func (q *request) deleteOptions() (*metav1.DeleteOptions, error) {
	options := new(metav1.DeleteOptions)
	switch {
	case len(q.body) > 0:
		var err error
		if options, err = decodeDeleteOptions(q); err != nil {
			return nil, err
		}
	case len(q.query) > 0:
		if err := metav1.Convert_url_Values_To_v1_DeleteOptions(&q.query, options, nil); err != nil {
			return nil, badRequest("%v", err)
		}
	}
	if found := validation.ValidateDeleteOptions(options); len(found) > 0 {
		return nil, invalidOptions("DeleteOptions", found)
	}
	return options, nil
}
