package lease

import (
	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/leasehold/leasehold/httpapi/object"
)

// Equal tells whether a write of next over current changes nothing, and so makes no new version. Absent and empty maps
// and lists are the same, the same instant in another zone is the same; kind, apiVersion and resourceVersion are not
// compared, since they are not stored. Entries of managedFields may differ in their times.
func Equal(next, current *coordinationv1.Lease) bool {
	return sameSpec(&next.Spec, &current.Spec) &&
		object.SameMetadata(&next.ObjectMeta, &current.ObjectMeta) &&
		object.SameEntries(next.ManagedFields, current.ManagedFields)
}

// sameSpec tells whether two specs say the same; times are compared as instants.
func sameSpec(next, current *coordinationv1.LeaseSpec) bool {
	return object.Same(next.HolderIdentity, current.HolderIdentity) &&
		object.Same(next.LeaseDurationSeconds, current.LeaseDurationSeconds) &&
		next.AcquireTime.Equal(current.AcquireTime) &&
		next.RenewTime.Equal(current.RenewTime) &&
		object.Same(next.LeaseTransitions, current.LeaseTransitions) &&
		object.Same(next.Strategy, current.Strategy) &&
		object.Same(next.PreferredHolder, current.PreferredHolder)
}
