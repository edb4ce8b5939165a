package review

import (
	"fmt"
	"reflect"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// ManagedFields are what kube-apiserver notes of a question that is created: which fields its asker set. Nothing is ever
// made of them; they are in the answer. There are none where nothing was set.
func ManagedFields(asked *authorizationv1.SelfSubjectAccessReview, manager string, now time.Time) ([]metav1.ManagedFieldsEntry, error) {
	set := &fieldpath.Set{}
	// Without its metadata, which may hold managed fields that are no JSON.
	question := &authorizationv1.SelfSubjectAccessReview{Spec: asked.Spec, Status: asked.Status}
	sent, err := runtime.DefaultUnstructuredConverter.ToUnstructured(question)
	if err != nil {
		return nil, fmt.Errorf("managed fields of a review: %w", err)
	}
	empty, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&authorizationv1.SelfSubjectAccessReview{})
	if err != nil {
		return nil, fmt.Errorf("managed fields of a review: %w", err)
	}
	for _, part := range []string{"spec", "status"} {
		addChanged(set, fieldpath.MakePathOrDie(part), sent[part], empty[part])
	}
	if set.Empty() {
		return nil, nil
	}
	told, err := set.ToJSON()
	if err != nil {
		return nil, fmt.Errorf("managed fields of a review: %w", err)
	}
	moment := metav1.NewTime(now.UTC().Truncate(time.Second))
	if manager == "" {
		manager = "unknown"
	}
	return []metav1.ManagedFieldsEntry{{
		Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: authorizationv1.SchemeGroupVersion.String(),
		Time: &moment, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(string(told)),
	}}, nil
}

// addChanged adds the paths at which sent differs from empty. A map that was not there before is a change itself; the
// lists of a review change as a whole.
func addChanged(set *fieldpath.Set, path fieldpath.Path, sent, empty any) {
	fields, isMap := sent.(map[string]any)
	if !isMap {
		if !reflect.DeepEqual(sent, empty) {
			set.Insert(path)
		}
		return
	}
	before, wasMap := empty.(map[string]any)
	if !wasMap {
		set.Insert(path)
	}
	for name, value := range fields {
		addChanged(set, append(path.Copy(), fieldpath.PathElement{FieldName: &name}), value, before[name])
	}
}
