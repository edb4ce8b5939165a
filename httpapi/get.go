package httpapi

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/leasehold/leasehold/fsm"
)

// get answers one object: without a resourceVersion as it is now, with 0 as this node happens to know it, else as of that
// version or later.
func (s *server) get(q *request) (*response, error) {
	if exports(q.query) {
		return nil, badRequest("the export parameter, deprecated since v1.14, is no longer supported")
	}
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
		return nil, q.kind.notFound(q.key.Name)
	}
	return &response{code: http.StatusOK, object: object}, nil
}

// exports tells whether a query asks for what Kubernetes once had: an object without what a cluster made of it. Any
// value but false and 0 asks.
func exports(query url.Values) bool {
	given := query["export"]
	return len(given) > 0 && !strings.EqualFold(given[0], "false") && given[0] != "0"
}
