package lease

import (
	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/leasehold/leasehold/httpapi/object"
)

// Kind is the kind Lease, in the one version in which it is served. The one before had the same fields.
var Kind = object.Kind{
	GroupVersionKind: coordinationv1.SchemeGroupVersion.WithKind("Lease"),
	New:              func() object.Object { return &coordinationv1.Lease{} },
	Versions:         []string{"v1"},
	Former:           []string{"v1beta1"},
	MicroTimes:       []string{"acquireTime", "renewTime"},
}
