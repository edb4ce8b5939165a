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
}

// New returns an Authenticator that knows these tokens. None is fine: then certificates alone count.
func New(tokens Tokens) *Authenticator { return &Authenticator{tokens: tokens} }

// Authenticate returns who sent the request, after impersonation; nil if it carries no credentials. Basic
// authentication and an Authorization header that makes no sense are no credentials.
//
// As in kube-apiserver a good certificate counts before a token, and one good credential beside a bad one is enough.
// Errors: ErrUnknownToken, ErrUnknownCertificate, *Denied for an impersonation that the user may not do.
func (a *Authenticator) Authenticate(r *http.Request) (*User, error) {
	user, err := userOfCertificate(r)
	if user == nil {
		if token := bearer(r); token != "" {
			if user = a.tokens.user(token); user == nil {
				return nil, ErrUnknownToken
			}
		}
	}
	if user == nil {
		return nil, err
	}
	return impersonate(user, r.Header)
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
