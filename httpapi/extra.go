package httpapi

import (
	"encoding/json"
	"net/http"
)

// Extra is what one path answers that is not of this room.
type Extra struct {
	Method string
	// Answer returns what the client is told, as JSON. An error is told as a Status, like a verb's: one of cluster's or of
	// apimachinery's by what it means, any other as a fault of this server.
	Answer func(r *http.Request) (any, error)
}

func (e Extra) answer(q *request) (*response, error) {
	told, err := e.Answer(q.http)
	if err != nil {
		return nil, err
	}
	document, err := json.Marshal(told)
	if err != nil {
		return nil, err
	}
	return &response{code: http.StatusOK, document: append(document, '\n'), documentType: "application/json"}, nil
}
