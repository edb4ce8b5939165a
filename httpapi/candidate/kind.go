package candidate

import (
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/leasehold/leasehold/httpapi/object"
)

// Versions are those in which LeaseCandidates can be had, the preferred one first. They have the same fields and the same
// protobuf form, so that one type and one store do for both.
var Versions = []string{"v1beta1", "v1alpha2"}

// Kind is the kind LeaseCandidate in one of its versions.
func Kind(version string) object.Kind {
	return object.Kind{
		GroupVersionKind: schema.GroupVersionKind{Group: coordinationv1beta1.GroupName, Version: version, Kind: "LeaseCandidate"},
		New:              func() object.Object { return &coordinationv1beta1.LeaseCandidate{} },
		Versions:         Versions,
		MicroTimes:       []string{"pingTime", "renewTime"},
	}
}
