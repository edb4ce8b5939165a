package httpapi

import "net/http"

// get answers one Lease.
func (s *server) get(q *request) (*response, error) {
	if err := s.store.Barrier(q.context()); err != nil {
		return nil, err
	}
	object := s.store.State().Get(q.key)
	if object == nil {
		return nil, notFound(q.key.Name)
	}
	return &response{code: http.StatusOK, object: object}, nil
}

func (s *server) list(q *request) (*response, error)  { return nil, errNoSuchMethod }
func (s *server) watch(q *request) (*response, error) { return nil, errNoSuchMethod }
