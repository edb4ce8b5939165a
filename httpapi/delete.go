package httpapi

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/leasehold/leasehold/fsm"
)

// delete removes a Lease.
func (s *server) delete(q *request) (*response, error) {
	return s.mutate(q, func(current *fsm.Object) (step, error) {
		if current == nil {
			return step{}, notFound(q.key.Name)
		}
		return step{
			command: &fsm.Command{Op: fsm.OpDelete, UID: current.UID, Object: current.Data},
			answer:  func(fsm.Result) (*response, error) { return deleted(current), nil },
		}, nil
	})
}

// deleted is the answer to a delete that took effect at once.
func deleted(object *fsm.Object) *response {
	return &response{code: http.StatusOK, value: &metav1.Status{
		Status: metav1.StatusSuccess,
		Details: &metav1.StatusDetails{
			Name: object.Key.Name, Group: leaseResource.Group, Kind: leaseResource.Resource, UID: types.UID(object.UID),
		},
	}}
}
