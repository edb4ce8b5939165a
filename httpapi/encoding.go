package httpapi

import (
	"fmt"

	"github.com/leasehold/leasehold/cluster"
	"github.com/leasehold/leasehold/httpapi/object"
)

// maxObject is the largest object that is stored, in bytes: what etcd takes in one request. A body may be larger.
const maxObject = 3 << 19

// encode makes what is stored of an object: its revision stands beside it, not in it.
func encode(next object.Object) ([]byte, error) {
	version := next.GetResourceVersion()
	next.SetResourceVersion("")
	data, err := next.Marshal()
	next.SetResourceVersion(version)
	if err == nil && len(data) > maxObject {
		return nil, fmt.Errorf("%w: %d bytes", cluster.ErrTooLarge, len(data))
	}
	return data, err
}
