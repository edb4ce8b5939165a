package httpapi

import (
	"errors"
	"net/http"

	"github.com/leasehold/leasehold/httpapi/auth"
)

// Authenticator tells who sent a request.
type Authenticator interface {
	// Authenticate returns the user, nil when the request carries no credentials and must, and an error when they are
	// wrong.
	Authenticate(r *http.Request) (*auth.User, error)
}

// authenticate finds out who asks. Credentials that are wrong are refused even where none are needed.
func (s *server) authenticate(q *request) error {
	user, err := s.config.Authenticator.Authenticate(q.http)
	q.user, q.stranger = user, user == nil || user.Name == auth.Anonymous
	if q.stranger && auth.Misplaced(q.http) {
		q.warn("the provided Authorization header contains extra space before the bearer token, and is ignored")
	}
	if err != nil {
		return errUnauthorized
	}
	return nil
}

// impersonate lets the user be taken for somebody else.
func (s *server) impersonate(q *request) error {
	if q.user == nil {
		return nil
	}
	user, err := auth.Impersonate(q.user, q.http.Header, q.action())
	if err != nil {
		return refused(err)
	}
	q.user = user
	return nil
}

// authorize decides whether the user may do this.
func (s *server) authorize(q *request) error {
	err := auth.Authorise(q.user, q.action())
	q.admitted = !errors.Is(err, auth.ErrUnauthenticated)
	return refused(err)
}

// action is what the request is about to those who decide on rights.
func (q *request) action() auth.Action {
	if q.key.Resource == "" {
		return auth.Action{Verb: q.verb, OnPath: true, Path: q.http.URL.Path}
	}
	return auth.Action{
		Verb: q.verb, Group: q.group, Resource: q.key.Resource, Subresource: q.subresource,
		Namespace: q.key.Namespace, Name: q.selectedName(),
	}
}

// refused turns what the auth room finds into what the client is told.
func refused(err error) error {
	var (
		denied   *auth.Denied
		nameless *auth.Nameless
	)
	switch {
	case errors.As(err, &denied):
		return forbidden(denied)
	case errors.As(err, &nameless):
		return badRequest("%v", nameless)
	case err != nil:
		return errUnauthorized
	}
	return nil
}
