package patch

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	kjson "sigs.k8s.io/json"

	"github.com/leasehold/leasehold/httpapi/fieldmanager"
	"github.com/leasehold/leasehold/httpapi/object"
)

// strategic runs a strategic merge patch, which works on maps and takes its rules (finalizers are a set, owners are
// keyed by uid) from the Go type. Kind and apiVersion in the patch are of no effect.
func strategic(kind object.Kind, current object.Object, body []byte, fieldValidation string) (object.Object, []error, error) {
	original, err := runtime.DefaultUnstructuredConverter.ToUnstructured(current)
	if err != nil {
		return nil, nil, fmt.Errorf("convert %s/%s: %w", current.GetNamespace(), current.GetName(), err)
	}
	changes := map[string]any{}
	own, err := kjson.UnmarshalStrict(body, &changes)
	if err != nil {
		return nil, nil, refuse(ErrMalformed, err.Error())
	}
	// The library orders a list by another in time that grows with the product of their lengths.
	if err := fieldmanager.TreeFits(changes); err != nil {
		return nil, nil, refuse(ErrTooManyOperations, err.Error())
	}
	shown := fmt.Sprintf("%+v", changes)
	patched, err := strategicpatch.StrategicMergeMapPatch(original, changes, kind.New())
	if err != nil {
		return nil, nil, strategicError(err)
	}
	kind.TimesInTree(patched)
	next := kind.New()
	strict := fieldValidation != metav1.FieldValidationIgnore
	err = runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(patched, next, strict)
	found, unknown := runtime.AsStrictDecodingError(err)
	if err != nil && !unknown {
		return nil, nil, noResult(shown, err)
	}
	if unknown {
		own = append(own, found.Errors()...)
	}
	complaints, err := judge(own, shown, fieldValidation)
	return next, complaints, err
}

// strategicError sorts what the library refuses. What it has no name for (an unknown directive, a list entry without its
// merge key) the server answers with 500.
func strategicError(err error) error {
	for _, malformed := range []error{
		mergepatch.ErrBadJSONDoc,
		mergepatch.ErrBadPatchFormatForPrimitiveList,
		mergepatch.ErrBadPatchFormatForRetainKeys,
		mergepatch.ErrBadPatchFormatForSetElementOrderList,
		mergepatch.ErrUnsupportedStrategicMergePatchFormat,
	} {
		if errors.Is(err, malformed) {
			return refuse(ErrMalformed, err.Error())
		}
	}
	if errors.Is(err, mergepatch.ErrNoListOfLists) || errors.Is(err, mergepatch.ErrPatchContentNotMatchRetainKeys) {
		return refuse(ErrImpossible, err.Error())
	}
	return refuse(ErrDirective, err.Error())
}
