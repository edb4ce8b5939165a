package conformance

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// watch is an open watch and the events that came since it was last collected.
type watch struct {
	status int
	header http.Header
	body   any // of an answer that is no stream

	mu     sync.Mutex // guards what follows
	events []any
	ended  bool  // by the server
	err    error // why, if not in good order
	news   chan struct{}
}

// stream gives the events of an answer one by one; io.EOF is an end in good order.
type stream interface {
	next() (event any, err error)
}

// opener sends the request of a watch. The stream is nil if the server refused, and then the body holds its reasons.
type opener func(clients clients, r *http.Request) (got *http.Response, events stream, err error)

// open starts the watch of a step and returns when its header has come. Events are read until the conversation ends.
func (c *conversation) open(ctx context.Context, step Step, path string, opener opener) error {
	answered, cancel := context.WithCancel(ctx)
	late := time.AfterFunc(c.patience, cancel)
	var events stream
	got, err := c.insist(answered, func() (*http.Response, error) {
		r, err := c.request(answered, step, http.MethodGet, path)
		if err != nil {
			return nil, err
		}
		var got *http.Response
		got, events, err = opener(c.clients, r)
		return got, err
	})
	if err != nil {
		cancel()
		return fmt.Errorf("watch %s: %w", path, err)
	}
	late.Stop()
	w := &watch{status: got.StatusCode, header: got.Header, news: make(chan struct{}, 1)}
	c.watches[step.ID] = w
	if events == nil {
		defer cancel()
		defer got.Body.Close()
		body, err := io.ReadAll(got.Body)
		w.body, w.ended = decode(got.Header.Get("Content-Type"), body), true
		return err
	}
	hangUp := context.AfterFunc(ctx, func() { _ = got.Body.Close() }) // an upgraded connection does not heed ctx
	c.readers.Go(func() {
		defer cancel()
		defer got.Body.Close()
		defer hangUp()
		w.read(events)
	})
	return nil
}

func (w *watch) read(events stream) {
	for {
		event, err := events.next()
		w.mu.Lock()
		switch err {
		case nil:
			w.events = append(w.events, event)
		case io.EOF:
			w.ended = true
		default:
			w.ended, w.err = true, err
		}
		w.mu.Unlock()
		select {
		case w.news <- struct{}{}:
		default: // there is news to be heard of already
		}
		if err != nil {
			return
		}
	}
}

// collect waits until the events that the step asks for have come and it is plain that no more will, or until the server
// has ended the watch, and takes the events away.
func (w *watch) collect(ctx context.Context, step Step, patience time.Duration) (*response, error) {
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	var surplus <-chan time.Time
	for waiting := true; waiting && !w.hasEnded(); {
		if surplus == nil && step.Events > 0 && w.counted(step) >= step.Events {
			surplus = time.After(surplusTime)
		}
		select {
		case <-w.news:
		case <-surplus:
			waiting = false
		case <-timeout.C:
			waiting = false
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return nil, fmt.Errorf("the watch %s broke off: %w", step.Collect, w.err)
	}
	got := &response{status: w.status, header: w.header, body: w.body, closed: w.ended && step.Events == 0}
	if w.isStream() {
		got.events = append([]any{}, w.events...)
	}
	w.events = nil
	return got, nil
}

func (w *watch) isStream() bool {
	return w.status == http.StatusOK || w.status == http.StatusSwitchingProtocols
}

func (w *watch) hasEnded() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ended
}

func (w *watch) counted(step Step) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, event := range w.events {
		if step.counts(event) {
			n++
		}
	}
	return n
}
