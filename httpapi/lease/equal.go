package lease

import (
	"slices"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Equal tells whether a write of next over current changes nothing, and so makes no new version. Absent and empty maps
// and lists are the same, the same instant in another zone is the same; kind, apiVersion and resourceVersion are not
// compared, since they are not stored. Entries of managedFields that differ in their times alone are the same, for
// otherwise every repeated write would be a change.
func Equal(next, current *coordinationv1.Lease) bool {
	if !slices.EqualFunc(next.ManagedFields, current.ManagedFields, equalEntries) {
		return false
	}
	if !equality.Semantic.DeepEqual(next.Spec, current.Spec) {
		return false
	}
	a, b := next.ObjectMeta, current.ObjectMeta
	a.ManagedFields, b.ManagedFields = nil, nil
	a.ResourceVersion, b.ResourceVersion = "", ""
	return equality.Semantic.DeepEqual(a, b)
}

func equalEntries(a, b metav1.ManagedFieldsEntry) bool {
	a.Time, b.Time = nil, nil
	return equality.Semantic.DeepEqual(a, b)
}
