package candidate

import (
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/leasehold/leasehold/httpapi/object"
)

// Equal tells whether a write of next over current changes nothing, and so makes no new version.
func Equal(next, current *coordinationv1beta1.LeaseCandidate) bool {
	return equality.Semantic.DeepEqual(&next.Spec, &current.Spec) &&
		object.SameMetadata(&next.ObjectMeta, &current.ObjectMeta) &&
		object.SameEntries(next.ManagedFields, current.ManagedFields)
}
