package httpapi

import (
	"crypto/tls"
	"net/http"
	"time"

	"github.com/hashicorp/go-hclog"
)

// What one connection may cost. A watch has no end and lifts the bound on how long an answer takes; all else is over in
// requestTimeout, as at kube-apiserver. Without that, clients that stop in the middle of a body or of an answer would keep
// their places among the requests in flight, and large lists in memory, until nobody else has any.
const (
	headerTimeout = 10 * time.Second // from the connection's first byte to the end of a request's header
	idleTimeout   = 90 * time.Second // between requests; a client's pool keeps connections about as long
	maxHeader     = 1 << 20          // bytes
	maxStreams    = 1000             // requests at a time on one connection: a process may well hold hundreds of watches

	// From a request's arrival until its body has come and its answer is taken.
	requestTimeout = time.Minute

	// A peer that vanished without a word is noticed by a ping after so long a silence, and given so long to answer.
	pingAfter   = 30 * time.Second
	pingTimeout = 15 * time.Second
	// A client that takes no byte at all for this long is gone.
	stallTimeout = 30 * time.Second
)

// NewHTTPServer returns a server for the door's handler over TLS 1.2 or later, HTTP/2 preferred. config brings the
// certificates and, for clients that prove themselves by one, ClientCAs; it is not changed. The caller
// serves with ServeTLS(listener, "", "") and shuts down.
func NewHTTPServer(handler http.Handler, config *tls.Config, logger hclog.Logger) *http.Server {
	config = config.Clone()
	if config.MinVersion < tls.VersionTLS12 {
		config.MinVersion = tls.VersionTLS12
	}
	// Named here, so that HTTP/2 is there also when the caller makes the TLS listener itself.
	if len(config.NextProtos) == 0 {
		config.NextProtos = []string{"h2", "http/1.1"}
	}
	if logger == nil {
		logger = hclog.NewNullLogger()
	}
	return &http.Server{
		Handler:           handler,
		TLSConfig:         config,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		WriteTimeout:      requestTimeout, // over HTTP/2 it ends the stream, and with it the body
		MaxHeaderBytes:    maxHeader,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: maxStreams,
			SendPingTimeout:      pingAfter,
			PingTimeout:          pingTimeout,
			WriteByteTimeout:     stallTimeout,
		},
		// Handshakes that fail are the other side's affair.
		ErrorLog: logger.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}),
	}
}
