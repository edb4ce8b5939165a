package testbed

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// net/http sends a GET again whose connection broke before the answer, if that had carried another request before.
func TestRequestIsSentOnce(t *testing.T) {
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1) == 2 {
			conn, _, err := w.(http.Hijacker).Hijack()
			if assert.NoError(t, err) {
				conn.Close()
			}
		}
	}))
	defer server.Close()
	c := newClient(nil, false, func(ctx context.Context) (net.Conn, error) {
		var dialer net.Dialer
		return dialer.DialContext(ctx, "tcp", server.Listener.Addr().String())
	})
	defer c.close()
	response, err := c.http.Get(server.URL)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	_, err = c.http.Get(server.URL)
	require.ErrorIs(t, err, errSecondAttempt)
	assert.EqualValues(t, 2, requests.Load())

	response, err = c.http.Get(server.URL)
	require.NoError(t, err, "the next request has a connection of its own")
	require.NoError(t, response.Body.Close())
}

func TestTaskThatComesTooLateIsRefused(t *testing.T) {
	l, err := startLauncher(nil)
	require.NoError(t, err)
	done := false
	require.NoError(t, l.do(func() error { done = true; return nil }))
	assert.True(t, done)
	l.close()
	require.ErrorIs(t, l.do(func() error { return nil }), errPlaceClosed)
}
