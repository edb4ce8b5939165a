package sim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/leasehold/leasehold/jepsen/nemesis"
)

// door is the way of clients to a node: what a connection of HTTP/2 would be, without one.
type door struct {
	testbed *testbed
	node    string
}

// RoundTrip sends a request over the link to the node, lets the process there answer it, and takes the answer over the
// link back.
func (d *door) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	request, err := d.received(r)
	if err != nil {
		return nil, err
	}
	there, back := d.testbed.network.link(nemesis.Client, d.node), d.testbed.network.link(d.node, nemesis.Client)
	if err := there.pass(ctx); err != nil {
		d.late(there, request)
		return nil, fmt.Errorf("send to %s: %w", d.node, err)
	}
	if there.resets() || back.resets() {
		return nil, fmt.Errorf("send to %s: %w", d.node, errReset)
	}
	life := d.testbed.enter(d.node)
	if life == nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: address(d.node), Err: errRefused}
	}
	body := newStream(back)
	a := &answer{header: make(http.Header), out: body}
	served, cancel := context.WithCancel(life.ctx)
	go func() {
		defer life.doors.Done()
		defer cancel()
		a.serve(life, request.WithContext(served))
	}()
	c := &taken{stream: body, gone: func() { d.hangUp(there, life, cancel) }}
	c.unhook = context.AfterFunc(ctx, func() { body.fail(ctx.Err()) })
	var head [1]byte
	if _, err := body.Read(head[:]); err != nil {
		_ = c.Close()
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("answer of %s: %w", d.node, err)
	}
	length := int64(-1)
	if text := a.sent.Get("Content-Length"); text != "" {
		if _, err := fmt.Sscan(text, &length); err != nil {
			length = -1
		}
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", a.code, http.StatusText(a.code)), StatusCode: a.code,
		Proto: "HTTP/2.0", ProtoMajor: 2, Header: a.sent, Body: c, ContentLength: length, Request: r,
	}, nil
}

// received is a request as the node gets it.
func (d *door) received(r *http.Request) (*http.Request, error) {
	var body []byte
	if r.Body != nil {
		var err error
		body, err = io.ReadAll(r.Body)
		_ = r.Body.Close()
		if err != nil {
			return nil, err
		}
	}
	url := *r.URL
	url.Scheme, url.Host = "", ""
	return &http.Request{
		Method: r.Method, URL: &url, RequestURI: url.RequestURI(), Host: d.node,
		Proto: "HTTP/2.0", ProtoMajor: 2, Header: r.Header.Clone(),
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), RemoteAddr: "192.0.2.1:1",
	}, nil
}

// late is a request whose client gave it up while it was on its way: now and then it still arrives, when the way is free.
func (d *door) late(there *link, request *http.Request) {
	there.mu.Lock()
	arrives := there.rand.IntN(4) == 0
	there.mu.Unlock()
	if !arrives {
		return
	}
	d.testbed.after(func(ctx context.Context) {
		if there.pass(ctx) != nil {
			return
		}
		life := d.testbed.enter(d.node)
		if life == nil {
			return
		}
		defer life.doors.Done()
		served, cancel := context.WithTimeout(life.ctx, 10*time.Second)
		defer cancel()
		out := newStream(there)
		out.shutDown()
		(&answer{header: make(http.Header), out: out}).serve(life, request.WithContext(served))
	})
}

// hangUp lets the node know that the client has gone.
func (d *door) hangUp(there *link, life *process, cancel context.CancelFunc) {
	if !there.stuck() {
		cancel()
		return
	}
	d.testbed.after(func(ctx context.Context) {
		defer context.AfterFunc(life.ctx, cancel)()
		_ = there.pass(ctx)
		cancel()
	})
}

// taken is an answer's body at the client.
type taken struct {
	*stream
	gone    func()
	unhook  func() bool
	closing sync.Once
}

func (t *taken) Close() error {
	t.closing.Do(func() {
		t.unhook()
		t.shutDown()
		t.gone()
	})
	return nil
}

// answer is http.ResponseWriter.
type answer struct {
	out    *stream
	header http.Header // the handler's
	sent   http.Header // as it was when the head went out
	code   int
	buffer []byte
}

// maxBuffered is how much of an answer is kept until somebody flushes it.
const maxBuffered = 4 << 10

// serve answers a request and ends the answer, unless the process died on the way.
func (a *answer) serve(life *process, r *http.Request) {
	stop := context.AfterFunc(life.ctx, func() { a.out.end(errReset) })
	defer stop()
	defer func() {
		switch cause := recover(); cause {
		case nil:
			a.WriteHeader(http.StatusOK)
			_ = a.FlushError()
			a.out.end(io.EOF)
		case http.ErrAbortHandler:
			a.out.end(errReset)
		default:
			panic(cause)
		}
	}()
	life.handler.ServeHTTP(a, r)
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(code int) {
	if a.sent == nil {
		a.code, a.sent = code, a.header.Clone()
		a.buffer = append(a.buffer, 0) // the head
	}
}

func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	a.buffer = append(a.buffer, p...)
	if len(a.buffer) < maxBuffered {
		return len(p), nil
	}
	return len(p), a.FlushError()
}

// FlushError sends what was written.
func (a *answer) FlushError() error {
	a.WriteHeader(http.StatusOK)
	if len(a.buffer) == 0 {
		return nil
	}
	buffer := a.buffer
	a.buffer = nil
	_, err := a.out.Write(buffer)
	return err
}

// SetWriteDeadline is what http.ResponseController looks for.
func (a *answer) SetWriteDeadline(t time.Time) error {
	a.out.setWriteDeadline(t)
	return nil
}
