package patch

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/leasehold/leasehold/httpapi/object"
)

// Apply gives the object that body makes of current, which is of that kind and is not changed. Current carries its resourceVersion, so that
// a patch can test for it or set another. The result may have any name, namespace, uid and version: those are the
// caller's to compare. FieldValidation is metav1.FieldValidationIgnore, Warn or Strict; empty means Warn, as it does for
// the server. Warnings come in the order of the server: the patch's own, then the result's.
func Apply(kind object.Kind, patchType types.PatchType, current object.Object, body []byte, fieldValidation string) (next object.Object, warnings []string, err error) {
	if fieldValidation == "" {
		fieldValidation = metav1.FieldValidationWarn
	}
	var complaints []error
	switch patchType {
	case types.JSONPatchType, types.MergePatchType:
		next, complaints, err = applyToText(kind, patchType, current, body, fieldValidation)
	case types.StrategicMergePatchType:
		next, complaints, err = strategic(kind, current, body, fieldValidation)
	default:
		err = refuse(ErrUnsupportedType, "unsupported patch type "+string(patchType))
	}
	if err != nil {
		return nil, nil, err
	}
	*object.Type(next) = metav1.TypeMeta{}
	for _, complaint := range complaints {
		warnings = append(warnings, complaint.Error())
	}
	return next, warnings, nil
}

// judge decides about unknown and repeated fields: nothing under Ignore, warnings under Warn, refusal under Strict.
func judge(complaints []error, shown, fieldValidation string) ([]error, error) {
	switch {
	case len(complaints) == 0 || fieldValidation == metav1.FieldValidationIgnore:
		return nil, nil
	case fieldValidation == metav1.FieldValidationStrict:
		return nil, noResult(shown, runtime.NewStrictDecodingError(complaints))
	}
	return complaints, nil
}
