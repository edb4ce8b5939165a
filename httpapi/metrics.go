package httpapi

func (s *server) observe(q *request, w *writer) {}

func (s *server) metrics(q *request) (*response, error) { return nil, errNoSuchMethod }
