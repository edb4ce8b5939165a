package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNodeThatIsStillOpeningIsAliveAndNotReady(t *testing.T) {
	var d doorway
	ask := func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		d.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w
	}
	assert.Equal(t, http.StatusOK, ask("/livez").Code)
	for _, path := range []string{"/readyz", "/apis/coordination.k8s.io/v1/leases"} {
		answer := ask(path)
		assert.Equal(t, http.StatusServiceUnavailable, answer.Code, path)
		assert.Equal(t, "1", answer.Header().Get("Retry-After"), path)
		assert.Contains(t, answer.Body.String(), "not ready", path)
	}
	d.open(http.NotFoundHandler())
	assert.Equal(t, http.StatusNotFound, ask("/readyz").Code)
}
