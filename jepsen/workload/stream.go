package workload

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"time"

	"github.com/leasehold/leasehold/jepsen/history"
)

// stream is how a client watches.
type stream struct {
	history.Request
	// Timeout is after how long the server is asked to end the stream, in whole seconds; 0 leaves it to the server.
	Timeout time.Duration
	// Idle is after how long without an event the client gives the stream up, as one over a dead connection would
	// otherwise never end; 0 means never.
	Idle time.Duration
	// Narrow has the connection take in little before it is read, so that a reader that stops is felt by the server soon.
	Narrow bool
	// Each is told of each change after it was recorded, and says whether to go on. It may take its time, during which
	// nothing is read.
	Each func(*history.Change) bool
}

// watched is what became of a watch.
type watched struct {
	Opened bool
	Code   int    // of the refusal, or of the ERROR that ended it
	Reason string // why it ended, if it was open
}

// watch watches until the stream ends, and records what it sees.
func (w *worker) watch(ctx context.Context, e Endpoint, s stream) watched {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w.scene.Recorder.Record(history.Event{Process: w.process(), Type: history.Invoke, F: history.Watch, Node: e.Node, Request: &s.Request})
	hurry := time.AfterFunc(patience, cancel)
	if s.Narrow {
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: narrow})
	}
	response, answer := open(ctx, e, s)
	hurry.Stop()
	if response == nil {
		w.scene.Recorder.Record(history.Event{Process: w.process(), Type: history.Fail, F: history.Watch, Node: e.Node, Answer: &answer})
		return watched{Code: answer.Code}
	}
	defer response.Body.Close()
	w.scene.Recorder.Record(history.Event{Process: w.process(), Type: history.OK, F: history.Watch, Node: e.Node, Answer: &answer})
	reason, code := w.follow(ctx, cancel, e, s, response.Body)
	w.scene.Recorder.Record(history.Event{Process: w.process(), Type: history.End, F: history.Watch, Node: e.Node, Note: reason})
	return watched{Opened: true, Code: code, Reason: reason}
}

// tight is the buffer of a narrow connection. Much less would make it slow while it is read.
const tight = 64 << 10

// narrow leaves a connection a small buffer for what was sent and not read yet, which does not grow. One that is shared with
// others is left alone.
func narrow(info httptrace.GotConnInfo) {
	c := info.Conn
	if secure, ok := c.(*tls.Conn); ok {
		if secure.ConnectionState().NegotiatedProtocol == "h2" {
			return
		}
		c = secure.NetConn()
	}
	if buffered, ok := c.(interface{ SetReadBuffer(int) error }); ok {
		_ = buffered.SetReadBuffer(tight) // a connection that is gone tells by itself
	}
}

// open returns the response whose body is the stream, or nil and what came instead.
func open(ctx context.Context, e Endpoint, s stream) (*http.Response, history.Answer) {
	namespaced, query := selecting(s.Request)
	demand(query, s)
	request, err := newRequest(ctx, e, message{method: "GET", path: path(namespaced), query: query})
	if err != nil {
		return nil, history.Answer{Error: err.Error()}
	}
	response, err := client(e).Do(request)
	if err != nil {
		return nil, history.Answer{Error: err.Error()}
	}
	answer := history.Answer{Code: response.StatusCode, RetryAfter: response.Header.Get("Retry-After") != ""}
	if response.StatusCode == http.StatusOK {
		return response, answer
	}
	defer response.Body.Close()
	var refusal status
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err == nil && json.Unmarshal(body, &refusal) == nil {
		answer.Reason, answer.Error = refusal.Reason, refusal.Message
	}
	return nil, answer
}

func demand(query url.Values, s stream) {
	query.Set("watch", "true")
	if s.Revision != "" {
		query.Set("resourceVersion", s.Revision)
	}
	if s.Match != "" {
		query.Set("resourceVersionMatch", s.Match)
	}
	if s.Initial {
		query.Set("sendInitialEvents", "true")
	}
	if s.Bookmark {
		query.Set("allowWatchBookmarks", "true")
	}
	if s.Timeout > 0 {
		query.Set("timeoutSeconds", strconv.Itoa(max(1, int(s.Timeout/time.Second))))
	}
}

// follow reads and records events until the stream ends, and says why it did, with the code of an ERROR.
func (w *worker) follow(ctx context.Context, cancel func(), e Endpoint, s stream, body io.ReadCloser) (reason string, code int) {
	// A body that does not mind the request's context is closed under its reader.
	defer context.AfterFunc(ctx, func() { body.Close() })()
	idle := &time.Timer{}
	if s.Idle > 0 {
		idle = time.AfterFunc(s.Idle, cancel)
		defer idle.Stop()
	}
	for from := newFrames(body); ; {
		raw, err := from.next()
		if err != nil {
			return endOf(ctx, err), 0
		}
		change, err := w.scene.objects.change(raw)
		if err != nil {
			return endOf(ctx, err), 0
		}
		if s.Idle > 0 {
			idle.Stop() // a slow Each is not the server's silence
		}
		w.scene.glimpse(change)
		w.scene.Recorder.Record(history.Event{Process: w.process(), Type: history.Seen, Node: e.Node, Change: &change})
		if change.Type == "ERROR" {
			return history.EndedByError, change.Code
		}
		if s.Each != nil && !s.Each(&change) {
			return history.EndedByClient, 0
		}
		if s.Idle > 0 {
			idle.Reset(s.Idle)
		}
	}
}

func endOf(ctx context.Context, err error) string {
	switch {
	case ctx.Err() != nil:
		return history.EndedByClient
	case errors.Is(err, io.EOF):
		return history.EndedByServer
	}
	return history.EndedByCut
}

// reached is the revision up to which a stream that delivered this change is complete, 0 if it does not tell. Initial
// events are of all ages, and only their bookmark tells.
func reached(c *history.Change, initial bool) uint64 {
	switch {
	case c.Type == "BOOKMARK":
		return c.Revision
	case c.Version != nil && !initial:
		return c.Version.Revision
	}
	return 0
}
