package httpapi

func (s *server) deleteCollection(q *request) (*response, error) { return nil, errNoSuchMethod }
