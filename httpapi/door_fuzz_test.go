package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http/httpguts"

	"github.com/leasehold/leasehold/fsm"
)

// fuzzed is a door to throw things at: the whole handler, called without a network, over a store of one node that is the
// same before each request. Every request goes through check, which knows what must hold whatever was sent.
type fuzzed struct {
	handler   http.Handler
	node      *freshNode
	faults    *faults
	stock     []fsm.Command // what is stored before each request
	pristine  [][]byte      // copies of its objects
	encodings []answerEncoding
}

// openFuzzed opens such a door. One serves all executions of a target in a process.
func openFuzzed(f testing.TB, change ...func(*Config)) *fuzzed {
	door := &fuzzed{node: new(freshNode), faults: new(faults), stock: stock(f), encodings: answerEncodings}
	for _, command := range door.stock {
		door.pristine = append(door.pristine, bytes.Clone(command.Object))
	}
	config := Config{
		Authenticator: knownTokens(),
		Logger:        hclog.New(&hclog.LoggerOptions{Level: hclog.Warn, Output: door.faults}),
	}
	for _, c := range change {
		c(&config)
	}
	door.refresh(f)
	var err error
	door.handler, err = New(config, door.node)
	require.NoError(f, err)
	return door
}

// refresh brings the store back to what it holds before a request: the same objects under the same versions.
func (d *fuzzed) refresh(t testing.TB) {
	node := newOneNode(t)
	for _, command := range d.stock {
		result, err := node.Propose(context.Background(), command)
		require.NoError(t, err)
		require.Equal(t, fsm.Accepted, result.Outcome, "%v", command.Key)
	}
	d.node.current.Store(node)
}

// stockRevision is the version that the store has before a request.
func (d *fuzzed) stockRevision() uint64 { return fsm.FirstRevision + uint64(len(d.stock)) }

// freshNode is a store that can be put in another's place between two requests. Nobody else writes to it, so a version
// that is yet to come will not come, and a wait for it is over at once.
type freshNode struct{ current atomic.Pointer[oneNode] }

func (n *freshNode) Propose(ctx context.Context, command fsm.Command) (fsm.Result, error) {
	return n.current.Load().Propose(ctx, command)
}
func (n *freshNode) Barrier(ctx context.Context) error { return n.current.Load().Barrier(ctx) }
func (n *freshNode) State() *fsm.State                 { return n.current.Load().State() }
func (n *freshNode) History() *fsm.History             { return n.current.Load().History() }
func (n *freshNode) Ready() error                      { return n.current.Load().Ready() }
func (n *freshNode) Serving() <-chan struct{}          { return n.current.Load().Serving() }

func (n *freshNode) WaitRevision(_ context.Context, revision uint64) error {
	if revision > n.State().Revision() {
		return context.DeadlineExceeded
	}
	return nil
}

// faults is what the door's log says at Warn and above: nothing that a client sends is worth that. A panic that the
// pipeline recovers from is told there, and nowhere else for certain.
type faults struct {
	mu   sync.Mutex // guards text
	text strings.Builder
}

func (f *faults) Write(line []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.text.Write(line)
}

// take returns what was logged since the last call.
func (f *faults) take() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	text := f.text.String()
	f.text.Reset()
	return text
}

// call is one request to a fuzzed door.
type call struct {
	method, target string // the target as it stands on the request line
	body           string
	header         http.Header
	socket         bool // the connection can be taken over, as one of HTTP/1 can
}

// as returns the header of a request by the owner of a token, with more names and values.
func as(token string, more ...string) http.Header {
	header := http.Header{"Authorization": {"Bearer " + token}, "User-Agent": {"fuzz/1"}}
	for i := 0; i < len(more); i += 2 {
		header[http.CanonicalHeaderKey(more[i])] = []string{more[i+1]}
	}
	return header
}

// request makes of a call what net/http would hand to the door, or nil where net/http itself refuses.
func (c call) request(ctx context.Context) *http.Request {
	address, err := url.ParseRequestURI(c.target)
	if err != nil || !httpguts.ValidHeaderFieldName(c.method) || c.method == http.MethodConnect {
		return nil
	}
	for name, values := range c.header {
		for _, value := range values {
			if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
				return nil
			}
		}
	}
	r := &http.Request{
		Method: c.method, URL: address, RequestURI: c.target, Host: "door", RemoteAddr: "127.0.0.1:1",
		Proto: "HTTP/2.0", ProtoMajor: 2, Header: c.header.Clone(),
		Body: io.NopCloser(strings.NewReader(c.body)), ContentLength: int64(len(c.body)),
	}
	if c.socket {
		r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/1.1", 1, 1
	}
	return r.WithContext(ctx)
}

// size is how many bytes a client sends for a call.
func (c call) size() int {
	size := len(c.method) + len(c.target) + len(c.body)
	for name, values := range c.header {
		for _, value := range values {
			size += len(name) + len(value)
		}
	}
	return size
}

// recorded is an answer as it went out. A stream's client goes away when it is sent what there is.
type recorded struct {
	code    int
	header  http.Header
	body    bytes.Buffer
	streams bool // has been flushed, which only a watch does
	leave   context.CancelFunc
}

func (a *recorded) Header() http.Header { return a.header }

func (a *recorded) WriteHeader(code int) {
	if a.code == 0 {
		a.code = code
	}
}

func (a *recorded) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

func (a *recorded) Flush() {
	a.streams = true
	a.leave()
}

// send has a call answered, nil if it never reaches the door.
func (d *fuzzed) send(c call) *recorded {
	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	r := c.request(ctx)
	if r == nil {
		return nil
	}
	answer := &recorded{header: http.Header{}, leave: leave}
	if c.socket {
		d.handler.ServeHTTP(&hijacked{answer}, r)
		return answer
	}
	d.handler.ServeHTTP(answer, r)
	return answer
}

// hijacked is an answer whose connection can be taken over. Nothing comes in on it.
type hijacked struct{ *recorded }

func (h *hijacked) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	h.code = http.StatusSwitchingProtocols // what follows is of another protocol, also where it says no
	connection := &silent{out: &h.body}
	return connection, bufio.NewReadWriter(bufio.NewReader(connection), bufio.NewWriter(connection)), nil
}

// silent is a connection whose client has gone away but still takes what it is sent.
type silent struct {
	mu  sync.Mutex // guards out
	out *bytes.Buffer
}

func (s *silent) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(p)
}

func (s *silent) Read([]byte) (int, error)         { return 0, io.EOF }
func (s *silent) Close() error                     { return nil }
func (s *silent) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (s *silent) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (s *silent) SetDeadline(time.Time) error      { return nil }
func (s *silent) SetReadDeadline(time.Time) error  { return nil }
func (s *silent) SetWriteDeadline(time.Time) error { return nil }

// choice picks one of several ways to make a request out of a number that fuzzing varies.
type choice uint16

func (c *choice) of(n int) int {
	picked := int(*c) % n
	*c /= choice(n)
	return picked
}
