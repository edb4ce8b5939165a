package lease

import (
	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/leasehold/leasehold/httpapi/object"
)

// Kind is the kind Lease, in the one version it has.
var Kind = object.Kind{
	GroupVersionKind: coordinationv1.SchemeGroupVersion.WithKind("Lease"),
	New:              func() object.Object { return &coordinationv1.Lease{} },
	Versions:         []string{"v1"},
	MicroTimes:       []string{"acquireTime", "renewTime"},
}
