package httpapi

import (
	"encoding/json"
	"strconv"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/leasehold/leasehold/fsm"
)

// apiObject is what can be rendered beside stored versions.
type apiObject = runtime.Object

// form is the encoding and the shape in which a client wants its answer.
type form struct{}

// plain is the same encoding for what has no other shape: a Status is never made a Table.
func (f form) plain() form { return f }

// negotiate finds the form a request's Accept header asks for. With an error comes the form in which to tell it.
func negotiate(q *request) (form, error) { return form{}, nil }

// render makes the bytes of an answer's object or value.
func render(f form, answer *response) (contentType string, body []byte, err error) {
	value := answer.value
	if answer.object != nil {
		if value, err = leaseOf(answer.object); err != nil {
			return "", nil, err
		}
	}
	switch value := value.(type) {
	case *metav1.Status:
		value.APIVersion, value.Kind = "v1", "Status"
	case *coordinationv1.Lease:
		value.APIVersion, value.Kind = "coordination.k8s.io/v1", "Lease"
	case *coordinationv1.LeaseList:
		value.APIVersion, value.Kind = "coordination.k8s.io/v1", "LeaseList"
	}
	body, err = json.Marshal(value)
	return "application/json", append(body, '\n'), err
}

// leaseOf decodes a stored version, its resourceVersion filled in. The Lease is the caller's own.
func leaseOf(object *fsm.Object) (*coordinationv1.Lease, error) {
	lease := new(coordinationv1.Lease)
	if err := lease.Unmarshal(object.Data); err != nil {
		return nil, err
	}
	lease.ResourceVersion = strconv.FormatUint(object.Revision, 10)
	return lease, nil
}
