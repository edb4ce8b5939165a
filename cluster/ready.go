package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	// readyFor is how long one successful read barrier makes a node ready.
	readyFor = 5 * time.Second
	// readyEvery is the pause between two background barriers.
	readyEvery = time.Second
)

// readiness knows whether this node can serve: whether it was in touch with a majority of late.
type readiness struct {
	mu      sync.Mutex // guards what follows
	until   time.Time  // ready until then, if nothing is heard
	reason  error      // why the last barrier failed
	serving chan struct{}
	open    bool // serving has not been closed
	stopped bool
}

func newReadiness() *readiness {
	serving := make(chan struct{})
	close(serving)
	return &readiness{serving: serving, reason: errors.New("starting")}
}

// Ready returns nil while a read barrier has succeeded within the last 5 s, and else the reason why not.
func (n *Node) Ready() error {
	hangs := n.watchdog.ready()
	n.readiness.mu.Lock()
	defer n.readiness.mu.Unlock()
	switch {
	case hangs != nil:
		return hangs
	case n.readiness.stopped:
		return ErrClosed
	case !n.readiness.open:
		return fmt.Errorf("not ready: %w", n.readiness.reason)
	}
	return nil
}

// Serving returns a channel that is closed when this node stops being ready: watches end with it. A node that is not
// ready returns a closed channel.
func (n *Node) Serving() <-chan struct{} {
	n.readiness.mu.Lock()
	defer n.readiness.mu.Unlock()
	return n.readiness.serving
}

// run keeps the readiness up to date until ctx ends.
func (r *readiness) run(ctx context.Context, barrier func(context.Context) error) {
	for {
		attempt, cancel := context.WithTimeout(ctx, readyEvery)
		err := barrier(attempt)
		cancel()
		next := readyEvery
		if err == nil {
			r.succeed()
		} else {
			r.fail(err)
			next = readyEvery / 10
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(next):
		}
	}
}

func (r *readiness) succeed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return
	}
	r.until = time.Now().Add(readyFor)
	if !r.open {
		r.open, r.serving = true, make(chan struct{})
	}
}

// fail records why the node cannot serve at the moment, and ends its readiness if that has lasted.
func (r *readiness) fail(reason error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reason = reason
	if r.open && !time.Now().Before(r.until) {
		r.open = false
		close(r.serving)
	}
}

// stop ends the readiness for good.
func (r *readiness) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
	if r.open {
		r.open = false
		close(r.serving)
	}
}
