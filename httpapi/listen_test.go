package httpapi

import (
	"context"
	"crypto/tls"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDoorSpeaksHTTP2OverTLS12AndLater(t *testing.T) {
	d := openDoor(t)
	assert.Equal(t, 2, d.do(t, "GET", "/livez", "").ProtoMajor)

	server := NewHTTPServer(http.NotFoundHandler(), &tls.Config{MinVersion: tls.VersionTLS10}, nil)
	assert.EqualValues(t, tls.VersionTLS12, server.TLSConfig.MinVersion)
	server = NewHTTPServer(http.NotFoundHandler(), &tls.Config{MinVersion: tls.VersionTLS13}, nil)
	assert.EqualValues(t, tls.VersionTLS13, server.TLSConfig.MinVersion, "a stricter caller is obeyed")
}

func TestWatchesHaveALimitOfTheirOwn(t *testing.T) {
	d := openDoor(t, func(c *Config) { c.MaxWatches, c.MaxInFlight = 1, 1 })
	ctx, cancel := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, "GET", d.server.URL+leasesPath+"?watch=true", nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+adminToken)
	open, err := d.client.Do(r)
	require.NoError(t, err)
	defer open.Body.Close()
	require.Equal(t, http.StatusOK, open.StatusCode)

	got := d.do(t, "GET", leasesPath+"?watch=true&timeoutSeconds=1", "")
	assert.Equal(t, http.StatusTooManyRequests, got.StatusCode, got.body)
	assert.Equal(t, "1", got.Header.Get("Retry-After"))
	assert.Equal(t, http.StatusOK, d.do(t, "GET", leasesPath, "").StatusCode, "an open watch takes no other request's place")

	cancel()
	assert.Eventually(t, func() bool {
		return d.do(t, "GET", leasesPath+"?watch=true&timeoutSeconds=1", "").StatusCode == http.StatusOK
	}, 30*time.Second, 10*time.Millisecond, "a watch that ended leaves its place")
}
