package httpapi

import (
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/leasehold/leasehold/cluster"
)

// ServeHTTP is the pipeline: recover, request info, log and metrics, limits, authenticate, impersonate, authorise, verb,
// answer.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	deepen()
	q := &request{http: r, arrived: time.Now(), encodings: s.encodings}
	out := &writer{ResponseWriter: w}
	defer s.observe(q, out)
	defer s.recover(q, out)

	s.routes.understand(q)
	leave, err := s.limits.enter(q)
	if err != nil {
		s.refuse(out, q, err)
		return
	}
	defer leave()
	defer s.listBudget.give(q)

	answer, err := s.perform(q, out)
	if err != nil {
		s.refuse(out, q, err)
		return
	}
	s.respond(out, q, answer)
}

// perform does what is asked, as far as the client may ask it.
func (s *server) perform(q *request, out http.ResponseWriter) (*response, error) {
	// A refusal too is told in the form asked for, so that comes first; an unacceptable form is only an error once
	// it is known that the client may ask at all.
	var unacceptable error
	q.form, unacceptable = negotiate(q)
	err := s.authenticate(q)
	if err := q.parseQuery(); err != nil {
		return nil, err // whoever asks
	}
	if err != nil {
		return nil, err
	}
	if err := s.impersonate(q); err != nil {
		return nil, err
	}
	if err := s.authorize(q); err != nil {
		return nil, err
	}
	q.routed = q.known
	if unacceptable != nil {
		return nil, unacceptable
	}
	if err := q.readBody(out); err != nil {
		return nil, err
	}
	if q.verb == "watch" {
		// A node that does not know whether it is behind would show a past without an end.
		if err := s.store.Ready(); err != nil {
			return nil, fmt.Errorf("%w: %v", cluster.ErrUnavailable, err)
		}
	}
	return q.answer(q)
}

// recover answers 500 when a verb panicked, so that one bad request does not end the process and all others with it.
func (s *server) recover(q *request, out *writer) {
	cause := recover()
	if cause == nil {
		return
	}
	if cause == http.ErrAbortHandler {
		panic(cause)
	}
	s.logger.Error("request panicked", "method", q.http.Method, "path", q.http.URL.Path, "cause", cause, "stack", string(debug.Stack()))
	if out.code != 0 {
		// Part of an answer is out already; cutting the connection is the only way left to say that it is not whole.
		panic(http.ErrAbortHandler)
	}
	s.refuse(out, q, errPanicked)
}
