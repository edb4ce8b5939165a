package review

import (
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// Misunderstood tells which of a question's selectors were ignored, in whole or in part, since they cannot be parsed; ""
// for none. That makes a question broader, which is safe: what is allowed to a broader one is to the narrower.
func Misunderstood(asked *authorizationv1.ResourceAttributes) string {
	var problems []string
	note := func(name string, understood, misunderstood int) {
		switch {
		case misunderstood == 0:
		case understood > 0:
			problems = append(problems, "spec.resourceAttributes."+name+" partially ignored due to parse error")
		default:
			problems = append(problems, "spec.resourceAttributes."+name+" ignored due to parse error")
		}
	}
	if selector := asked.FieldSelector; selector != nil {
		if _, err := fields.ParseSelector(selector.RawSelector); err != nil {
			note("fieldSelector", 0, 1)
		} else {
			n := countFunc(selector.Requirements, understoodField)
			note("fieldSelector", n, len(selector.Requirements)-n)
		}
	}
	if selector := asked.LabelSelector; selector != nil {
		if _, err := labels.Parse(selector.RawSelector); err != nil {
			note("labelSelector", 0, 1)
		} else {
			n := countFunc(selector.Requirements, understoodLabel)
			note("labelSelector", n, len(selector.Requirements)-n)
		}
	}
	return strings.Join(problems, "; ")
}

func countFunc[T any](list []T, is func(T) bool) (n int) {
	for _, one := range list {
		if is(one) {
			n++
		}
	}
	return n
}

// understoodField: fields are only selected by one value each.
func understoodField(r metav1.FieldSelectorRequirement) bool {
	operators := []metav1.FieldSelectorOperator{metav1.FieldSelectorOpIn, metav1.FieldSelectorOpNotIn}
	return slices.Contains(operators, r.Operator) && len(r.Values) == 1
}

func understoodLabel(r metav1.LabelSelectorRequirement) bool {
	operators := map[metav1.LabelSelectorOperator]selection.Operator{
		metav1.LabelSelectorOpIn: selection.In, metav1.LabelSelectorOpNotIn: selection.NotIn,
		metav1.LabelSelectorOpExists: selection.Exists, metav1.LabelSelectorOpDoesNotExist: selection.DoesNotExist,
	}
	operator, known := operators[r.Operator]
	if !known {
		return false
	}
	_, err := labels.NewRequirement(r.Key, operator, r.Values)
	return err == nil
}
