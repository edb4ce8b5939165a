package httpapi

import (
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/leasehold/leasehold/cluster"
)

// maxObject is the largest object that is stored, in bytes: what etcd takes in one request. A body may be larger.
const maxObject = 3 << 19

// encode makes what is stored of a Lease: its revision stands beside it, not in it.
func encode(next *coordinationv1.Lease) ([]byte, error) {
	version := next.ResourceVersion
	next.ResourceVersion = ""
	data, err := next.Marshal()
	next.ResourceVersion = version
	if err == nil && len(data) > maxObject {
		return nil, fmt.Errorf("%w: %d bytes", cluster.ErrTooLarge, len(data))
	}
	return data, err
}
