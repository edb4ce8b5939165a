package auth

import (
	"crypto/x509"
	"errors"
	"net/http"
	"strings"
	"time"
)

// What is wrong with credentials. Either is a 401, also where nobody needs to be known.
var (
	ErrUnknownToken       = errors.New("unknown bearer token")
	ErrUnknownCertificate = errors.New("client certificate is not by a known authority, or not valid now")
)

// Authenticator knows users by their client certificate, as the server's TLS verified it (tls.Config with
// VerifyClientCertIfGiven and ClientCAs), and by bearer token.
type Authenticator struct {
	tokens Tokens
	nobody *User // who sends a request without credentials
}

// New returns an Authenticator that knows these tokens. None is fine: then certificates alone count. If anonymous, a
// request without credentials is by the user Anonymous.
func New(tokens Tokens, anonymous bool) *Authenticator {
	a := &Authenticator{tokens: tokens}
	if anonymous {
		a.nobody = &User{Name: Anonymous, Groups: []string{Unauthenticated}}
	}
	return a
}

// Authenticate returns who sent the request. If it carries no credentials that is Anonymous, or nil where anonymous
// requests are refused. Basic authentication and an Authorization header that makes no sense are no credentials.
//
// As in kube-apiserver a good certificate counts before a token, and one good credential beside a bad one is enough.
// Errors: ErrUnknownToken, ErrUnknownCertificate.
func (a *Authenticator) Authenticate(r *http.Request) (*User, error) {
	user, err := userOfCertificate(r)
	if user == nil {
		if token := bearer(r); token != "" {
			if user = a.tokens.user(token); user == nil {
				return nil, ErrUnknownToken
			}
		}
	}
	switch {
	case user != nil:
		return user, nil
	case err != nil:
		return nil, err
	}
	return a.nobody, nil
}

// userOfCertificate reads the common name as the user and the organizations as the groups.
func userOfCertificate(r *http.Request) (*User, error) {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return nil, nil
	}
	// The chains were verified when the connection was made, which can be long ago.
	now := time.Now()
	for _, chain := range r.TLS.VerifiedChains {
		if validAt(chain, now) && chain[0].Subject.CommonName != "" {
			subject := chain[0].Subject
			return &User{Name: subject.CommonName, Groups: authenticated(subject.Organization)}, nil
		}
	}
	return nil, ErrUnknownCertificate
}

func validAt(chain []*x509.Certificate, now time.Time) bool {
	for _, cert := range chain {
		if now.Before(cert.NotBefore) || now.After(cert.NotAfter) {
			return false
		}
	}
	return len(chain) > 0
}

// bearer returns the token of an Authorization header, "" if there is none.
func bearer(r *http.Request) string {
	scheme, rest, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	if !strings.EqualFold(scheme, "bearer") {
		return ""
	}
	token, _, _ := strings.Cut(rest, " ")
	return token
}

// Misplaced tells whether there is a token in the Authorization header that is not found, for there is a blank too many
// before it. Its sender is worth a warning.
func Misplaced(r *http.Request) bool {
	scheme, rest, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	return strings.EqualFold(scheme, "bearer") && strings.HasPrefix(rest, " ")
}
