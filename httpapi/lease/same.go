package lease

import (
	"maps"
	"slices"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// sameMetadata tells whether nothing of what a client may set in the metadata differs, managedFields and
// resourceVersion left out, without reflection: most writes are renewals, and for those this is asked first.
func sameMetadata(next, current *metav1.ObjectMeta) bool {
	return next.Name == current.Name &&
		next.GenerateName == current.GenerateName &&
		next.Namespace == current.Namespace &&
		next.GetSelfLink() == current.GetSelfLink() &&
		next.UID == current.UID &&
		next.Generation == current.Generation &&
		next.CreationTimestamp.Equal(&current.CreationTimestamp) &&
		next.DeletionTimestamp.Equal(current.DeletionTimestamp) &&
		same(next.DeletionGracePeriodSeconds, current.DeletionGracePeriodSeconds) &&
		maps.Equal(next.Labels, current.Labels) &&
		maps.Equal(next.Annotations, current.Annotations) &&
		slices.Equal(next.Finalizers, current.Finalizers) &&
		slices.EqualFunc(next.OwnerReferences, current.OwnerReferences, sameOwner)
}

func sameOwner(a, b metav1.OwnerReference) bool {
	return a.APIVersion == b.APIVersion && a.Kind == b.Kind && a.Name == b.Name && a.UID == b.UID &&
		same(a.Controller, b.Controller) && same(a.BlockOwnerDeletion, b.BlockOwnerDeletion)
}

// sameSpec tells whether two specs say the same; times are compared as instants.
func sameSpec(next, current *coordinationv1.LeaseSpec) bool {
	return same(next.HolderIdentity, current.HolderIdentity) &&
		same(next.LeaseDurationSeconds, current.LeaseDurationSeconds) &&
		next.AcquireTime.Equal(current.AcquireTime) &&
		next.RenewTime.Equal(current.RenewTime) &&
		same(next.LeaseTransitions, current.LeaseTransitions) &&
		same(next.Strategy, current.Strategy) &&
		same(next.PreferredHolder, current.PreferredHolder)
}

// same compares what two pointers point at; nil is only the same as nil.
func same[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
