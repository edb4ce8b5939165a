package httpapi

import (
	"errors"
	"net/http"

	"github.com/leasehold/leasehold/httpapi/auth"
)

// Authenticator tells who sent a request.
type Authenticator interface {
	// Authenticate returns the user, nil when the request carries no credentials, and an error when they are wrong or
	// ask for too much.
	Authenticate(r *http.Request) (*auth.User, error)
}

// authenticate finds out who asks. Credentials that are wrong are refused even where none are needed.
func (s *server) authenticate(q *request) error {
	user, err := s.config.Authenticator.Authenticate(q.http)
	var denied *auth.Denied
	switch {
	case errors.As(err, &denied):
		return forbidden(q, denied)
	case err != nil:
		return errUnauthorized
	}
	q.user, q.admitted = user, true
	return nil
}

// authorize decides whether the user may do this.
func (s *server) authorize(q *request) error {
	err := auth.Authorise(q.user, auth.Action{
		Verb: q.verb, Path: q.http.URL.Path,
		Group: q.group, Resource: q.key.Resource, Subresource: q.subresource, Namespace: q.key.Namespace,
	})
	var denied *auth.Denied
	switch {
	case errors.As(err, &denied):
		return forbidden(q, denied)
	case err != nil:
		return errUnauthorized
	}
	return nil
}
