package object

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SameMetadata tells whether nothing of what a client may set in the metadata differs, managedFields and
// resourceVersion left out, without reflection: most writes are renewals, and for those this is asked first.
func SameMetadata(next, current *metav1.ObjectMeta) bool {
	return next.Name == current.Name &&
		next.GenerateName == current.GenerateName &&
		next.Namespace == current.Namespace &&
		next.GetSelfLink() == current.GetSelfLink() &&
		next.UID == current.UID &&
		next.Generation == current.Generation &&
		next.CreationTimestamp.Equal(&current.CreationTimestamp) &&
		next.DeletionTimestamp.Equal(current.DeletionTimestamp) &&
		Same(next.DeletionGracePeriodSeconds, current.DeletionGracePeriodSeconds) &&
		maps.Equal(next.Labels, current.Labels) &&
		maps.Equal(next.Annotations, current.Annotations) &&
		slices.Equal(next.Finalizers, current.Finalizers) &&
		slices.EqualFunc(next.OwnerReferences, current.OwnerReferences, sameOwner)
}

func sameOwner(a, b metav1.OwnerReference) bool {
	return a.APIVersion == b.APIVersion && a.Kind == b.Kind && a.Name == b.Name && a.UID == b.UID &&
		Same(a.Controller, b.Controller) && Same(a.BlockOwnerDeletion, b.BlockOwnerDeletion)
}

// SameEntries tells whether two lists of managedFields say the same. Entries that differ in their times alone are the same,
// for otherwise every repeated write would be a change.
func SameEntries(next, current []metav1.ManagedFieldsEntry) bool {
	return slices.EqualFunc(next, current, sameEntry)
}

func sameEntry(a, b metav1.ManagedFieldsEntry) bool {
	a.Time, b.Time = nil, nil
	return equality.Semantic.DeepEqual(a, b)
}

// sameManagers tells whether two lists of managedFields are of the same managers, whatever fields those have.
func sameManagers(next, current []metav1.ManagedFieldsEntry) bool {
	return slices.EqualFunc(next, current, func(a, b metav1.ManagedFieldsEntry) bool {
		return a.Manager == b.Manager && a.Operation == b.Operation && a.Subresource == b.Subresource && a.FieldsType == b.FieldsType
	})
}

// Same compares what two pointers point at; nil is only the same as nil.
func Same[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
