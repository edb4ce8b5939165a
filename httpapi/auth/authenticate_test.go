package auth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func knownTokens(t testing.TB) Tokens {
	tokens, err := ParseTokens(strings.NewReader("root-token,root,0,system:masters\nuser-token,user,1\n"))
	require.NoError(t, err)
	return tokens
}

func request(headers ...string) *http.Request {
	r := httptest.NewRequest("GET", "/", nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

func TestAuthorizationHeaders(t *testing.T) {
	a := New(knownTokens(t), false)
	for name, c := range map[string]struct {
		header string
		user   string // "" for anonymous
		err    error
	}{
		"none":                {"", "", nil},
		"token":               {"Bearer user-token", "user", nil},
		"lower case scheme":   {"bearer user-token", "user", nil},
		"blanks around":       {"  Bearer user-token ", "user", nil},
		"more after":          {"Bearer user-token x", "user", nil},
		"unknown":             {"Bearer nobody's", "", ErrUnknownToken},
		"part of a known one": {"Bearer user-toke", "", ErrUnknownToken},
		"basic":               {"Basic dXNlcjpwYXNz", "", nil},
		"scheme alone":        {"Bearer", "", nil},
		"token alone":         {"user-token", "", nil},
		"two blanks":          {"Bearer  user-token", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			user, err := a.Authenticate(request("Authorization", c.header))
			assert.ErrorIs(t, err, c.err)
			if c.user == "" {
				assert.Nil(t, user)
				return
			}
			require.NotNil(t, user)
			assert.Equal(t, c.user, user.Name)
			assert.True(t, user.In(Authenticated))
		})
	}
}

func TestAnonymousIsWhoHasNoCredentials(t *testing.T) {
	a := New(knownTokens(t), true)
	for _, header := range []string{"", "Basic dXNlcjpwYXNz", "Bearer", "user-token", "Bearer  user-token"} {
		user, err := a.Authenticate(request("Authorization", header))
		require.NoError(t, err, header)
		assert.Equal(t, &User{Name: Anonymous, Groups: []string{Unauthenticated}}, user, header)
	}
	_, err := a.Authenticate(request("Authorization", "Bearer nobody's"))
	assert.ErrorIs(t, err, ErrUnknownToken)
	user, err := a.Authenticate(request("Authorization", "Bearer user-token"))
	require.NoError(t, err)
	assert.Equal(t, "user", user.Name)
}

func TestTokenBehindABlankTooManyIsNoticed(t *testing.T) {
	for header, misplaced := range map[string]bool{
		"Bearer  user-token": true, "bearer   x": true, " Bearer user-token": false, "Bearer ": false, "Basic  x": false, "": false,
	} {
		assert.Equal(t, misplaced, Misplaced(request("Authorization", header)), header)
	}
}

// TestClientCertificates goes through real handshakes: what is looked at is what crypto/tls verified.
func TestClientCertificates(t *testing.T) {
	ca, other := newAuthority(t), newAuthority(t)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, err := New(knownTokens(t), false).Authenticate(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		json.NewEncoder(w).Encode(user)
	}))
	// Verification is the server's; without it a certificate must count for nothing.
	server.TLS = &tls.Config{ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: ca.pool()}
	server.StartTLS()
	defer server.Close()
	trusting := httptest.NewUnstartedServer(server.Config.Handler)
	trusting.TLS = &tls.Config{ClientAuth: tls.RequestClientCert, ClientCAs: ca.pool()}
	trusting.StartTLS()
	defer trusting.Close()

	alice := ca.issue(t, pkix.Name{CommonName: "alice", Organization: []string{"ops", "dev"}})
	user, code := ask(t, server, alice, "")
	assert.Equal(t, http.StatusOK, code)
	assert.Equal(t, "alice", user.Name)
	assert.ElementsMatch(t, []string{"ops", "dev", Authenticated}, user.Groups)

	user, _ = ask(t, server, alice, "user-token")
	assert.Equal(t, "alice", user.Name, "a certificate counts before a token")
	user, code = ask(t, server, alice, "unknown")
	assert.Equal(t, http.StatusOK, code, "a bad token beside a good certificate does no harm")
	assert.Equal(t, "alice", user.Name)

	_, code = ask(t, server, ca.issue(t, pkix.Name{Organization: []string{Masters}}), "")
	assert.Equal(t, http.StatusUnauthorized, code, "a certificate without a name")

	_, code = ask(t, trusting, other.issue(t, pkix.Name{CommonName: "mallory", Organization: []string{Masters}}), "")
	assert.Equal(t, http.StatusUnauthorized, code, "a certificate that nobody verified")
	user, code = ask(t, trusting, other.issue(t, pkix.Name{CommonName: "mallory"}), "user-token")
	assert.Equal(t, http.StatusOK, code, "a good token beside it")
	assert.Equal(t, "user", user.Name)
}

func TestCertificateThatExpiredAfterTheHandshakeIsRefused(t *testing.T) {
	now := time.Now()
	leaf := &x509.Certificate{Subject: pkix.Name{CommonName: "alice"}, NotBefore: now.Add(-2 * time.Hour), NotAfter: now.Add(-time.Hour)}
	r := request()
	r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf}, VerifiedChains: [][]*x509.Certificate{{leaf}}}
	_, err := New(nil, false).Authenticate(r)
	assert.ErrorIs(t, err, ErrUnknownCertificate)
	leaf.NotAfter = now.Add(time.Hour)
	user, err := New(nil, false).Authenticate(r)
	require.NoError(t, err)
	assert.Equal(t, "alice", user.Name)
}

func BenchmarkAuthenticateToken(b *testing.B) {
	a := New(knownTokens(b), false)
	r := request("Authorization", "Bearer user-token", "Accept", "application/json", "User-Agent", "x", "Content-Type", "application/json")
	b.ReportAllocs()
	for b.Loop() {
		a.Authenticate(r)
	}
}

// ask sends a request with a certificate and, unless it is empty, a token.
func ask(t *testing.T, server *httptest.Server, cert tls.Certificate, token string) (User, int) {
	t.Helper()
	transport := server.Client().Transport.(*http.Transport).Clone()
	defer transport.CloseIdleConnections()
	// Not Certificates: a client leaves out what the server's authorities did not sign.
	transport.TLSClientConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &cert, nil }
	r, err := http.NewRequest("GET", server.URL, nil)
	require.NoError(t, err)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := (&http.Client{Transport: transport}).Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	var user User
	if answer.StatusCode == http.StatusOK {
		require.NoError(t, json.NewDecoder(answer.Body).Decode(&user))
	}
	return user, answer.StatusCode
}

type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"},
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return authority{cert, key}
}

func (a authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

func (a authority) issue(t *testing.T, subject pkix.Name) tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: subject, NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
