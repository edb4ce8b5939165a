package testbed

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"sync/atomic"
	"time"
)

// handshakeTimeout bounds only how long a connection that nobody waits for any more is kept trying.
const handshakeTimeout = 10 * time.Second

// client reaches one node.
type client struct {
	http      *http.Client
	transport *http.Transport
}

func newClient(roots *x509.CertPool, http2 bool, dial func(context.Context) (net.Conn, error)) *client {
	transport := &http.Transport{
		DialContext:         func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
		TLSClientConfig:     &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: handshakeTimeout,
		MaxIdleConnsPerHost: 512,
		ForceAttemptHTTP2:   http2,
		HTTP2:               &http.HTTP2Config{SendPingTimeout: 2 * time.Second, PingTimeout: 2 * time.Second},
	}
	return &client{http: &http.Client{Transport: oneAttempt{transport, http2}}, transport: transport}
}

func (c *client) close() { c.transport.CloseIdleConnections() }

// layClients makes the secrets and what speaks to the nodes.
func (t *Testbed) layClients() error {
	hosts := map[string]string{}
	for _, node := range t.order {
		host, _, err := net.SplitHostPort(t.net.addresses(node).public)
		if err != nil {
			return err
		}
		hosts[node] = host
	}
	if err := os.MkdirAll(t.secrets(), 0o700); err != nil {
		return err
	}
	var err error
	if t.ca, err = writeSecrets(t.secrets(), t.order, hosts, t.token); err != nil {
		return err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(t.ca) {
		return errors.New("the authority just made cannot be read")
	}
	for _, node := range t.order {
		t.clients[node] = newClient(roots, t.options.HTTP2, func(ctx context.Context) (net.Conn, error) { return t.net.dial(ctx, node) })
		t.monitor[node] = newClient(roots, false, func(ctx context.Context) (net.Conn, error) { return t.net.inside(ctx, node) })
	}
	return nil
}

// URL is where clients reach a node.
func (t *Testbed) URL(node string) string { return "https://" + t.net.addresses(node).public }

// Client reaches a node over its link to the clients. It sends each request once and sets no deadline.
func (t *Testbed) Client(node string) *http.Client { return t.clients[node].http }

// Token is the bearer token of an administrator, and CA the authority, as PEM, that vouches for the nodes.
func (t *Testbed) Token() string { return t.token }
func (t *Testbed) CA() []byte    { return append([]byte(nil), t.ca...) }

// Refresh has the next requests to nodes go over new connections.
func (t *Testbed) Refresh(nodes ...string) {
	for _, node := range nodes {
		if c := t.clients[node]; c != nil {
			c.close()
		}
	}
}

// errSecondAttempt ends a request that net/http was about to send again, as it does with some when a connection breaks.
var errSecondAttempt = errors.New("the connection broke, and the request is not sent again")

// oneAttempt sees to it that a request goes over one connection alone.
type oneAttempt struct {
	next   http.RoundTripper
	shared bool // connections carry other requests at the same time
}

func (o oneAttempt) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	var attempts atomic.Int32
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
		if attempts.Add(1) == 1 {
			return
		}
		cancel(errSecondAttempt)
		if !o.shared {
			got.Conn.Close() // nothing was written to it yet, nor will be
		}
	}})
	response, err := o.next.RoundTrip(r.WithContext(ctx))
	if err != nil {
		if cause := context.Cause(ctx); errors.Is(cause, errSecondAttempt) {
			err = cause
		}
		cancel(nil)
		return nil, err
	}
	response.Body = endingBody{response.Body, func() { cancel(nil) }}
	return response, nil
}

// endingBody is a body whose end is the request's.
type endingBody struct {
	io.ReadCloser
	end func()
}

func (b endingBody) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}
