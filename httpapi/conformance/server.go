package conformance

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// Server is what is asked: one server of the Kubernetes API at one or more addresses.
type Server struct {
	// URLs are where its nodes are. Each request goes to the next one, so that what one node wrote another must show.
	URLs []string
	// Token is an administrator's, UserToken that of a known user without any rights.
	Token, UserToken string
	// TLS is how to know the nodes. Nil takes any certificate.
	TLS *tls.Config
}

// Validate says what is wrong with a Server.
func (s *Server) Validate() error {
	if len(s.URLs) == 0 {
		return errors.New("conformance: a server needs a URL")
	}
	for _, address := range s.URLs {
		parsed, err := url.Parse(address)
		if err != nil || parsed.Host == "" || parsed.Scheme != "https" && parsed.Scheme != "http" {
			return fmt.Errorf("conformance: %q is no URL of a server", address)
		}
	}
	if s.Token == "" || s.UserToken == "" {
		return errors.New("conformance: a server needs the tokens of an administrator and of a user without rights")
	}
	return nil
}

// clients are the two ways to speak to a server.
type clients struct {
	any     *http.Client // HTTP/2 where there is TLS
	sockets *http.Client // HTTP/1.1, which can be upgraded to a websocket
}

func (s *Server) newClients() clients {
	config := s.TLS
	if config == nil {
		config = &tls.Config{InsecureSkipVerify: true}
	}
	client := func(http2 bool) *http.Client {
		transport := &http.Transport{
			TLSClientConfig:    config.Clone(),
			ForceAttemptHTTP2:  http2,
			DisableCompression: true, // what is compressed is for the cases to say
		}
		if !http2 {
			transport.TLSClientConfig.NextProtos = []string{"http/1.1"}
		}
		return &http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	return clients{any: client(true), sockets: client(false)}
}

func (c clients) close() {
	c.any.CloseIdleConnections()
	c.sockets.CloseIdleConnections()
}
