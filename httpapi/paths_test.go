package httpapi

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is escaped in a path is what it stands for, as in kube-apiserver, and to those who decide on rights too.
func TestEscapesInPathsAreWhatTheyStandFor(t *testing.T) {
	d := openDoor(t)
	require.Equal(t, 201, d.do(t, "POST", leasesPath, `{"metadata":{"name":"held"}}`).StatusCode)
	for _, c := range []struct {
		path        string
		admin, user int
	}{
		{"/%61pis/coordination.k8s.io/v1/namespaces/ns/lease%73/%68eld", 200, 403},
		{"/apis/coordination.k8s.io/v1/namespaces/ns%2Fleases/held", 200, 403},
		{"/apis/coordination.k8s.io/v1/namespaces/ns/leases%2fheld%2F", 200, 403},
		{"/apis%2Fcoordination.k8s.io%2Fv1", 200, 200},
		{"/api/v1/namespace%73/ns", 200, 403},
		{"/heal%74hz", 200, 200},
		{"/apis/coordination.k8s.io/v1/namespaces/ns/leases/a%2Fb", 404, 403},
		{"/apis/coordination.k8s.io/v1/namespaces/ns/leases/%2568eld", 400, 403},
		{"/apis/coordination.k8s.io/v1/namespaces/ns%2F/leases", 404, 403},
		{"/healthz/%2e%2e/apis/coordination.k8s.io/v1/leases", 404, 403},
		{"/version%3Fx", 404, 403},
	} {
		assert.Equal(t, c.admin, d.do(t, "GET", c.path, "").StatusCode, c.path)
		assert.Equal(t, c.user, d.do(t, "GET", c.path, "", "Authorization", "Bearer "+userToken).StatusCode, c.path)
	}
}

// A slash more at the end is the same path within the API, and no path elsewhere, as in kube-apiserver.
func TestSlashesAtTheEnd(t *testing.T) {
	d := openDoor(t, func(c *Config) { c.Extra = map[string]Extra{"/extra": {Method: "GET"}} })
	for _, path := range []string{leasesPath, "/apis", "/apis/coordination.k8s.io", "/api/v1/namespaces", "/version"} {
		assert.Equal(t, http.StatusOK, d.do(t, "GET", path+"/", "").StatusCode, path)
	}
	for _, path := range []string{"/healthz", "/livez/ping", "/readyz", "/metrics", "/extra", "/openapi/v2", "/openapi/v3", "/openapi/v3/apis/coordination.k8s.io/v1"} {
		got := d.do(t, "GET", path+"/", "")
		assert.Equal(t, http.StatusNotFound, got.StatusCode, path)
		assert.Equal(t, "404 page not found\n", got.body, path)
	}
}
