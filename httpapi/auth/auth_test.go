package auth

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/httpapi"
)

const file = `# tokens
secret-a,admin,uid-1,"system:masters,ops"
secret-u,user,uid-2
secret-e,empty,uid-3,
`

func TestUsersAreKnownByTheirTokens(t *testing.T) {
	tokens, err := ReadTokens(strings.NewReader(file))
	require.NoError(t, err)
	a := New(tokens)
	for header, want := range map[string]*httpapi.User{
		"Bearer secret-a": {Name: "admin", Groups: []string{"system:masters", "ops", "system:authenticated"}},
		"bearer secret-u": {Name: "user", Groups: []string{"system:authenticated"}},
		"Bearer secret-e": {Name: "empty", Groups: []string{"system:authenticated"}},
		"Bearer secret":   nil,
		"Bearer ":         nil,
		"Basic secret-a":  nil,
		"secret-a":        nil,
		"":                nil,
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Authorization", header)
		assert.Equal(t, want, a.Authenticate(r), "%q", header)
	}
}

func TestUsersAreKnownByVerifiedCertificatesOnly(t *testing.T) {
	cert := &x509.Certificate{Subject: pkix.Name{CommonName: "kubelet", Organization: []string{"system:nodes"}}}
	r := httptest.NewRequest("GET", "/", nil)
	r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{cert}}
	assert.Nil(t, New(nil).Authenticate(r), "presented, but not verified")

	r.TLS.VerifiedChains = [][]*x509.Certificate{{cert}}
	assert.Equal(t, &httpapi.User{Name: "kubelet", Groups: []string{"system:nodes", "system:authenticated"}}, New(nil).Authenticate(r))
	assert.Equal(t, []string{"system:nodes"}, cert.Subject.Organization)
}

func TestBadTokenFilesSayWhichLine(t *testing.T) {
	for text, part := range map[string]string{
		"a,b\n":                "line 1",
		"a,b,c\n,user,uid\n":   "line 2",
		"a,b,c\na,other,uid\n": "line 2",
		"a,\"b,c\n":            "line 1",
	} {
		_, err := ReadTokens(strings.NewReader(text))
		assert.ErrorContains(t, err, part, "%q", text)
	}
}
