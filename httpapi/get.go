package httpapi

import (
	"net/http"

	"github.com/leasehold/leasehold/fsm"
)

// get answers one Lease: without a resourceVersion as it is now, with 0 as this node happens to know it, else as of that
// version or later.
func (s *server) get(q *request) (*response, error) {
	given, revision, err := getVersion(q.query)
	if err != nil {
		return nil, err
	}
	var state *fsm.State
	if given == "" {
		state, err = s.newest()
	} else {
		state, err = s.notOlder(q.context(), revision)
	}
	if err != nil {
		return nil, err
	}
	object := state.Get(q.key)
	if object == nil {
		return nil, notFound(q.key.Name)
	}
	return &response{code: http.StatusOK, object: object}, nil
}
