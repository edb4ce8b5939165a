package httpapi

func (s *server) patch(q *request) (*response, error) { return nil, errMediaType }
