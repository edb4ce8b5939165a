package httpapi

func (s *server) watch(q *request) (*response, error) { return nil, errNoSuchMethod }
