package patch

import (
	"encoding/json"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	kjson "sigs.k8s.io/json"
)

const (
	apiVersion = "coordination.k8s.io/v1"
	kind       = "Lease"
)

// encode writes the object as a client would read it, since that is what the patch was made for.
func encode(current *coordinationv1.Lease) ([]byte, error) {
	shown := *current
	shown.APIVersion, shown.Kind = apiVersion, kind
	text, err := json.Marshal(&shown)
	if err != nil {
		return nil, fmt.Errorf("encode %s/%s: %w", current.Namespace, current.Name, err)
	}
	return text, nil
}

// decode reads the patched text: complaints are unknown and repeated fields, an error is what makes it no Lease.
// Field names match with case, whole numbers must be written as such. A missing kind or apiVersion is not missed.
func decode(text []byte) (next *coordinationv1.Lease, complaints []error, err error) {
	next = &coordinationv1.Lease{}
	complaints, err = kjson.UnmarshalStrict(text, next)
	if err != nil {
		return nil, nil, err
	}
	if next.APIVersion != "" && next.APIVersion != apiVersion || next.Kind != "" && next.Kind != kind {
		return nil, nil, fmt.Errorf("no kind %q is registered for version %q", next.Kind, next.APIVersion)
	}
	return next, complaints, nil
}
