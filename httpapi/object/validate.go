package object

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var metadataPath = field.NewPath("metadata")

// Validate tells what is wrong with the metadata of a new object that PrepareCreate has seen, whose kind has this rule for
// names. The order of the errors is that of kube-apiserver: name, labels, annotations, owners, finalizers.
func Validate(next *metav1.ObjectMeta, name validation.ValidateNameFunc) field.ErrorList {
	return validation.ValidateObjectMeta(next, true, name, metadataPath)
}

// ValidateUpdate tells what is wrong with next as the successor of current, after PrepareUpdate. Both carry the
// resourceVersion they have at the door; a next without one is refused.
// The rules for a new object hold for a changed one too, but for that of its kind for names: any that can stand in a path are let
// pass. Each problem is told once. Metadata that is what current has was valid when it came, and is not looked at again.
func ValidateUpdate(next, current *metav1.ObjectMeta) field.ErrorList {
	if next.ResourceVersion != "" && SameMetadata(next, current) && sameManagers(next.ManagedFields, current.ManagedFields) {
		return nil
	}
	return distinct(append(Validate(next, pathSegment), validation.ValidateObjectMetaUpdate(next, current, metadataPath)...))
}

// pathSegment is the rule for names of no kind in particular.
func pathSegment(name string, prefix bool) []string {
	if prefix {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}

// distinct keeps the first of errors that read the same.
func distinct(errs field.ErrorList) field.ErrorList {
	var kept field.ErrorList
	for _, err := range errs {
		same := func(other *field.Error) bool { return other.Error() == err.Error() }
		if !slices.ContainsFunc(kept, same) {
			kept = append(kept, err)
		}
	}
	return kept
}
