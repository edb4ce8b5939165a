// Package auth tells who sends a request: by a client certificate that the TLS handshake has verified, or by a bearer
// token from a static file. It decides nothing about what a user may do.
package auth

import (
	"net/http"
	"strings"

	"github.com/leasehold/leasehold/httpapi"
)

// authenticated is a group that every known user is in.
const authenticated = "system:authenticated"

// Authenticator knows users by certificates and tokens.
type Authenticator struct {
	tokens map[string]*httpapi.User
}

// New returns an authenticator that knows the users of these tokens, and those whom certificates name.
func New(tokens map[string]*httpapi.User) *Authenticator {
	return &Authenticator{tokens: tokens}
}

// Authenticate returns the user, or nil. A certificate is asked before a token, as in kube-apiserver. The common name
// is the user and the organizations are the groups.
func (a *Authenticator) Authenticate(r *http.Request) *httpapi.User {
	if r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
		subject := r.TLS.VerifiedChains[0][0].Subject
		if subject.CommonName != "" {
			return newUser(subject.CommonName, subject.Organization)
		}
	}
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return nil
	}
	return a.tokens[token]
}

func newUser(name string, groups []string) *httpapi.User {
	return &httpapi.User{Name: name, Groups: append(groups[:len(groups):len(groups)], authenticated)}
}
