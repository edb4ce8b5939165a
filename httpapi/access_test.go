package httpapi

import (
	"net/http"
	"net/http/httptrace"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAnonymousRequestsAreRefusedAsAUsers(t *testing.T) {
	open := openDoor(t, func(c *Config) { c.Authenticator = knownTokens(true) })
	closed := openDoor(t)
	for _, c := range []struct {
		method, path, header string
		open, closed         int
		message              string // where it is open
	}{
		{"GET", leasesPath, "", 403, 401, `leases.coordination.k8s.io is forbidden: User \"system:anonymous\" cannot list resource \"leases\" in API group \"coordination.k8s.io\" in the namespace \"ns\"`},
		{"POST", leasesPath, "Basic dXNlcjpwYXNz", 403, 401, `cannot create resource`},
		{"DELETE", leasesPath + "/a", "nonsense", 403, 401, `leases.coordination.k8s.io \"a\" is forbidden`},
		{"GET", leasesPath + "?watch=true", "", 403, 401, `cannot watch resource`},
		{"GET", "/apis/coordination.k8s.io/v1", "", 403, 401, `"forbidden: User \"system:anonymous\" cannot get path \"/apis/coordination.k8s.io/v1\""`},
		{"GET", "/nothing/here", "", 403, 401, `cannot get path`},
		{"GET", "/metrics", "", 403, 401, `cannot get path`},
		{"GET", "/version", "", 200, 200, `"major"`},
		{"GET", "/livez", "Basic dXNlcjpwYXNz", 200, 200, `ok`},
		{"GET", "/readyz?verbose", "", 200, 200, `quorum ok`},
		{"GET", "/livez/ping", "", 403, 401, `cannot get path`},
		{"POST", "/version", "", 403, 401, `cannot post path`},
		{"GET", "/livez", "Bearer unknown", 401, 401, `Unauthorized`},
		{"GET", leasesPath, "Bearer unknown", 401, 401, `Unauthorized`},
		{"GET", leasesPath, "Bearer " + userToken, 403, 403, `User \"plain-user\"`},
	} {
		got := open.do(t, c.method, c.path, "{}", "Authorization", c.header)
		assert.Equal(t, c.open, got.StatusCode, "%v", c)
		assert.Contains(t, got.body, c.message, "%v", c)
		assert.Empty(t, got.Header.Values("WWW-Authenticate"))
		got = closed.do(t, c.method, c.path, "{}", "Authorization", c.header)
		assert.Equal(t, c.closed, got.StatusCode, "%v", c)
		assert.Equal(t, c.closed != 401, got.Header.Get("X-Kubernetes-Pf-Flowschema-Uid") != "", "%v", c)
		assert.Empty(t, got.Header.Values("WWW-Authenticate"))
	}
	got := open.do(t, "GET", leasesPath, "", "Authorization", "", "Impersonate-User", "admin")
	assert.Equal(t, 403, got.StatusCode)
	assert.Contains(t, got.body, "cannot impersonate-on:user-info:list resource")
}

func TestTokenBehindABlankTooManyIsWarnedOf(t *testing.T) {
	got := openDoor(t).do(t, "GET", leasesPath, "", "Authorization", "Bearer  "+adminToken)
	assert.Equal(t, http.StatusUnauthorized, got.StatusCode)
	assert.Equal(t, `299 - "the provided Authorization header contains extra space before the bearer token, and is ignored"`, got.Header.Get("Warning"))
	got = openDoor(t).do(t, "GET", leasesPath, "")
	assert.Empty(t, got.Header.Get("Warning"))
}

// A stranger's connection ends with its first answer. That the client hears so only after it is why another request may
// still find the old one.
func TestStrangersKeepNoConnection(t *testing.T) {
	d := openDoor(t)
	kept := func(authorization string) (reused bool) {
		r, err := http.NewRequest("GET", d.server.URL+"/livez", nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", authorization)
		trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) { reused = info.Reused }}
		got, err := d.client.Do(r.WithContext(httptrace.WithClientTrace(r.Context(), trace)))
		require.NoError(t, err)
		require.Equal(t, 2, got.ProtoMajor)
		require.Empty(t, got.Header.Get("Connection"))
		require.NoError(t, got.Body.Close())
		return reused
	}
	kept("Bearer " + adminToken)
	for range 20 {
		require.True(t, kept("Bearer "+adminToken))
	}
	require.Eventually(t, func() bool { return !kept("Basic eDp5") }, 10*time.Second, time.Millisecond, "without credentials")
	require.Eventually(t, func() bool { return !kept("Bearer unknown") }, 10*time.Second, time.Millisecond, "with wrong ones")
}
