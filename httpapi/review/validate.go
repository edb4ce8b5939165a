package review

import (
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Validate tells what is wrong with a question after access: it is about a resource or about a path, and has nothing in its
// metadata but what the server itself put there.
func Validate(asked *authorizationv1.SelfSubjectAccessReview) field.ErrorList {
	var found field.ErrorList
	spec, path := &asked.Spec, field.NewPath("spec")
	if (spec.ResourceAttributes == nil) == (spec.NonResourceAttributes == nil) {
		found = append(found, field.Invalid(path, shownPath(spec.NonResourceAttributes),
			"exactly one of nonResourceAttributes or resourceAttributes must be specified"))
	}
	if spec.ResourceAttributes != nil {
		found = append(found, validateSelectors(spec.ResourceAttributes, path.Child("resourceAttributes"))...)
	}
	meta := asked.ObjectMeta
	meta.ManagedFields = nil
	if !equality.Semantic.DeepEqual(meta, metav1.ObjectMeta{}) {
		found = append(found, field.Invalid(field.NewPath("metadata"), asked.ObjectMeta, "must be empty"))
	}
	return found
}

// shownPath is a question after a path as kube-apiserver's messages show it: by its internal names.
func shownPath(asked *authorizationv1.NonResourceAttributes) any {
	if asked == nil {
		return nil
	}
	return struct{ Path, Verb string }{asked.Path, asked.Verb}
}

// validateSelectors looks at the selectors by which a question may be narrowed. Operators that nobody knows are accepted: a
// newer client may know them.
func validateSelectors(asked *authorizationv1.ResourceAttributes, path *field.Path) field.ErrorList {
	var found field.ErrorList
	if selector := asked.FieldSelector; selector != nil {
		at := path.Child("fieldSelector")
		found = append(found, validateSelector(selector.RawSelector, len(selector.Requirements), at)...)
		for i, requirement := range selector.Requirements {
			found = append(found, validation.ValidateFieldSelectorRequirement(requirement,
				validation.FieldSelectorValidationOptions{AllowUnknownOperatorInRequirement: true}, at.Child("requirements").Index(i))...)
		}
	}
	if selector := asked.LabelSelector; selector != nil {
		at := path.Child("labelSelector")
		found = append(found, validateSelector(selector.RawSelector, len(selector.Requirements), at)...)
		for i, requirement := range selector.Requirements {
			found = append(found, validation.ValidateLabelSelectorRequirement(requirement,
				validation.LabelSelectorValidationOptions{AllowUnknownOperatorInRequirement: true}, at.Child("requirements").Index(i))...)
		}
	}
	return found
}

// validateSelector sees to it that a selector is given in one of its two forms.
func validateSelector(raw string, requirements int, path *field.Path) field.ErrorList {
	switch {
	case raw != "" && requirements > 0:
		return field.ErrorList{field.Invalid(path.Child("rawSelector"), raw, "may not specified at the same time as requirements")}
	case raw == "" && requirements == 0:
		return field.ErrorList{field.Required(path.Child("requirements"), "when "+path.String()+" is specified, requirements or rawSelector is required")}
	}
	return nil
}
