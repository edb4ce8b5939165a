package httpapi

import "net/http"

// livez says that this process answers at all.
func (s *server) livez(q *request) (*response, error) {
	return &response{code: http.StatusOK, document: []byte("ok"), documentType: "text/plain; charset=utf-8"}, nil
}

// readyz says whether this node can serve linearizable reads and writes.
func (s *server) readyz(q *request) (*response, error) {
	if err := s.store.Ready(); err != nil {
		return &response{code: http.StatusInternalServerError, document: []byte("not ready: " + err.Error() + "\n"), documentType: "text/plain; charset=utf-8"}, nil
	}
	return s.livez(q)
}
