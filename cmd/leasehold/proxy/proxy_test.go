package proxy

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const patience = 30 * time.Second

// node is an HTTPS server that answers its name, and /readyz as it is told.
type node struct {
	*httptest.Server
	ready atomic.Bool
}

func startNode(t *testing.T, name string) *node {
	t.Helper()
	n := &node{}
	n.ready.Store(true)
	n.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" {
			if !n.ready.Load() {
				http.Error(w, "no quorum", http.StatusServiceUnavailable)
			}
			return
		}
		_, _ = io.WriteString(w, name)
	}))
	t.Cleanup(n.Close)
	return n
}

func (n *node) address() string { return n.Listener.Addr().String() }

// startProxy runs a balancer over addresses and returns its address.
func startProxy(t *testing.T, change func(*Config), trust *node, addresses ...string) string {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AddCert(trust.Certificate())
	config := Config{
		Backends: addresses, TLS: &tls.Config{RootCAs: pool},
		Interval: 5 * time.Millisecond, Timeout: patience, Patience: patience, Drain: time.Millisecond,
	}
	if change != nil {
		change(&config)
	}
	p, err := New(config)
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx, listener) }()
	t.Cleanup(func() {
		stop()
		assert.NoError(t, <-done)
	})
	return listener.Addr().String()
}

// ask sends one request over a new connection and returns the name of the node that answered.
func ask(t *testing.T, trust *node, address string) (string, error) {
	t.Helper()
	transport := trust.Client().Transport.(*http.Transport).Clone()
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: patience}
	response, err := client.Get("https://" + address + "/")
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return string(body), err
}

func TestNewConnectionsGoOverAllReadyNodes(t *testing.T) {
	a, b := startNode(t, "a"), startNode(t, "b")
	address := startProxy(t, nil, a, a.address(), b.address())
	seen := map[string]bool{}
	require.Eventually(t, func() bool {
		name, err := ask(t, a, address)
		require.NoError(t, err)
		seen[name] = true
		return len(seen) == 2
	}, patience, time.Millisecond)
}

func TestNodeThatIsNotReadyGetsNoConnections(t *testing.T) {
	a, b := startNode(t, "a"), startNode(t, "b")
	b.ready.Store(false)
	address := startProxy(t, nil, a, b.address(), a.address())
	for range 10 {
		name, err := ask(t, a, address)
		require.NoError(t, err)
		require.Equal(t, "a", name)
	}
}

func TestConnectErrorFailsOverToAnotherNode(t *testing.T) {
	a, b := startNode(t, "a"), startNode(t, "b")
	// The next question to a node comes after the test, so that only connecting can find out.
	address := startProxy(t, func(c *Config) { c.Interval = time.Hour }, a, b.address(), a.address())
	require.Eventually(t, func() bool {
		name, err := ask(t, a, address)
		require.NoError(t, err)
		return name == "b"
	}, patience, time.Millisecond)
	b.Close()
	for range 4 {
		name, err := ask(t, a, address)
		require.NoError(t, err)
		require.Equal(t, "a", name)
	}
}

func TestConnectionWaitsForTheFirstReadyNode(t *testing.T) {
	a := startNode(t, "a")
	a.ready.Store(false)
	address := startProxy(t, nil, a, a.address())
	answered := make(chan string, 1)
	go func() {
		name, _ := ask(t, a, address)
		answered <- name
	}()
	a.ready.Store(true)
	assert.Equal(t, "a", <-answered)
}

func TestConnectionEndsWhenPatienceDoesAndNothingIsReady(t *testing.T) {
	a := startNode(t, "a")
	a.ready.Store(false)
	address := startProxy(t, func(c *Config) { c.Patience = 20 * time.Millisecond }, a, a.address())
	_, err := ask(t, a, address)
	assert.Error(t, err)
}

func TestConnectionsEndWithTheirNodesReadiness(t *testing.T) {
	a := startNode(t, "a")
	address := startProxy(t, nil, a, a.address())
	conn, err := tls.Dial("tcp", address, a.Client().Transport.(*http.Transport).TLSClientConfig)
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
	_, err = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	require.NoError(t, err)
	_, err = conn.Read(make([]byte, 1))
	require.NoError(t, err)

	a.ready.Store(false)
	_, err = io.Copy(io.Discard, conn)
	if err != nil { // cut, and not merely past our own deadline
		assert.NotContains(t, err.Error(), "i/o timeout")
	}
}

func TestMoreConnectionsThanAllowedWait(t *testing.T) {
	a := startNode(t, "a")
	address := startProxy(t, func(c *Config) { c.MaxConnections = 1 }, a, a.address())
	first, err := tls.Dial("tcp", address, a.Client().Transport.(*http.Transport).TLSClientConfig)
	require.NoError(t, err)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		name, err := ask(t, a, address)
		assert.NoError(t, err)
		assert.Equal(t, "a", name)
	}()
	select {
	case <-answered:
		t.Error("a second connection was carried beside the first")
	case <-time.After(50 * time.Millisecond): // longer proves no more
	}
	first.Close()
	<-answered
}

func TestNewRefusesWhatCannotBalance(t *testing.T) {
	_, err := New(Config{})
	assert.Error(t, err)
	_, err = New(Config{Backends: []string{"localhost"}})
	assert.True(t, err != nil && strings.Contains(err.Error(), "localhost"))
}
