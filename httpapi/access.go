package httpapi

import "slices"

// administrators may do everything; there are no other rules yet.
const administrators = "system:masters"

// authenticate finds out who asks. What is public may be asked by anyone, but not with credentials that are wrong.
func (s *server) authenticate(q *request) error {
	q.user = s.config.Authenticator.Authenticate(q.http)
	if q.user == nil && !q.public {
		return errUnauthorized
	}
	return nil
}

// authorize decides whether the user may do this: discovery is open to every known user, all else to administrators.
func (s *server) authorize(q *request) error {
	if !q.public && !q.discovery && !slices.Contains(q.user.Groups, administrators) {
		return forbidden(q)
	}
	q.authorized = true
	return nil
}
