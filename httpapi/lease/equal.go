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
	return sameSpec(&next.Spec, &current.Spec) &&
		sameMetadata(&next.ObjectMeta, &current.ObjectMeta) &&
		slices.EqualFunc(next.ManagedFields, current.ManagedFields, equalEntries)
}

func equalEntries(a, b metav1.ManagedFieldsEntry) bool {
	a.Time, b.Time = nil, nil
	return equality.Semantic.DeepEqual(a, b)
}
