package httpapi

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/httpapi/auth"
)

// The users that the tests know.
const (
	adminToken = "admin-token"
	userToken  = "user-token"
)

func knownTokens(anonymous ...bool) *auth.Authenticator {
	tokens, err := auth.ParseTokens(strings.NewReader(adminToken + ",admin,1,system:masters\n" + userToken + ",plain-user,2\n"))
	if err != nil {
		panic(err)
	}
	return auth.New(tokens, slices.Contains(anonymous, true))
}

// door is a door over one node, reached over TLS and HTTP/2.
type door struct {
	store  *oneNode
	server *httptest.Server
	client *http.Client
}

func openDoor(t testing.TB, change ...func(*Config)) *door {
	t.Helper()
	store := newOneNode(t)
	d := openDoorAt(t, store, change...)
	d.store = store
	return d
}

// openDoorAt opens a door to any store.
func openDoorAt(t testing.TB, store Store, change ...func(*Config)) *door {
	t.Helper()
	d := &door{}
	config := Config{Authenticator: knownTokens()}
	for _, c := range change {
		c(&config)
	}
	handler, err := New(config, store)
	require.NoError(t, err)
	d.server = httptest.NewUnstartedServer(nil)
	d.server.EnableHTTP2 = true
	d.server.Config = NewHTTPServer(handler, &tls.Config{}, nil)
	d.server.StartTLS()
	t.Cleanup(d.server.Close)
	d.client = d.server.Client()
	return d
}

// answer is what came back, its body read.
type answer struct {
	*http.Response
	body string
}

// do sends one request as the administrator, unless a header says otherwise.
func (d *door) do(t testing.TB, method, path, body string, header ...string) answer {
	t.Helper()
	r, err := http.NewRequest(method, d.server.URL+path, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+adminToken)
	r.Header.Set("User-Agent", "test/1")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	got, err := d.client.Do(r)
	require.NoError(t, err)
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	require.NoError(t, err)
	return answer{got, string(text)}
}
