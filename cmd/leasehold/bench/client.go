package bench

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Target is the server under measurement: one URL for each node, so that load and CPU are told of each.
type Target struct {
	URLs  []string
	Token string
	TLS   *tls.Config
}

// client is one connection to one node: HTTP/2 carries any number of requests on it.
type client struct {
	http *http.Client
	base *url.URL
	auth []string
}

// dial returns n clients, spread evenly over the nodes. Each connects when first used.
func (t Target) dial(n int) ([]*client, error) {
	clients := make([]*client, n)
	for i := range clients {
		base, err := url.Parse(t.URLs[i%len(t.URLs)])
		if err != nil {
			return nil, err
		}
		clients[i] = &client{
			base: base,
			http: &http.Client{Transport: &http.Transport{
				TLSClientConfig:    t.TLS.Clone(),
				ForceAttemptHTTP2:  true,
				DisableCompression: true,
			}},
		}
		if t.Token != "" {
			clients[i].auth = []string{"Bearer " + t.Token}
		}
	}
	return clients, nil
}

// call is a request whose constant parts were made once.
type call struct {
	client *client
	method string
	url    *url.URL
	header http.Header
}

// prepare makes a call's constant parts. The path may have a query.
func (c *client) prepare(method, path, contentType, accept string) *call {
	u := *c.base
	u.Path, u.RawQuery, _ = strings.Cut(path, "?")
	header := http.Header{"User-Agent": {"leasehold-bench"}, "Accept": {accept}}
	if contentType != "" {
		header["Content-Type"] = []string{contentType}
	}
	if c.auth != nil {
		header["Authorization"] = c.auth
	}
	return &call{client: c, method: method, url: &u, header: header}
}

// statusError is an answer that is not what was asked for.
type statusError struct {
	code int
	body string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("status %d: %s", e.code, e.body)
}

// send sends the call and leaves the body of the answer in reply. Any answer but 2xx is a *statusError.
func (c *call) send(ctx context.Context, body []byte, reply *bytes.Buffer) error {
	response, err := c.open(ctx, body)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	reply.Reset()
	if _, err := reply.ReadFrom(response.Body); err != nil {
		return err
	}
	if response.StatusCode/100 != 2 {
		return &statusError{response.StatusCode, clip(reply.String(), 300)}
	}
	return nil
}

// open sends the call and returns the answer with its body unread.
func (c *call) open(ctx context.Context, body []byte) (*http.Response, error) {
	request := (&http.Request{
		Method: c.method, URL: c.url, Host: c.url.Host, Header: c.header,
		Proto: "HTTP/2.0", ProtoMajor: 2,
	}).WithContext(ctx)
	if body != nil {
		request.Body = io.NopCloser(bytes.NewReader(body))
		request.ContentLength = int64(len(body))
		request.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}
	return c.client.http.Do(request)
}

func clip(text string, limit int) string {
	text = strings.TrimSpace(text)
	if len(text) > limit {
		return text[:limit] + "..."
	}
	return text
}
