package httpapi

import (
	"context"
	"sync"
	"time"
)

// collectionDeadline is how long a deletecollection may take, from its arrival. Each of its deletions is a command of
// its own with a command's deadline; no lock hangs on when the whole is answered.
const collectionDeadline = 30 * time.Second

// deadline is when a writing request must have been answered. A renewal that is answered later may find its client
// already without the lock, and another with it; so whatever became of it, later the client hears of an unknown
// outcome.
func (s *server) deadline(q *request) time.Time {
	if q.verb == "deletecollection" {
		return q.arrived.Add(collectionDeadline)
	}
	return q.arrived.Add(s.config.Deadline)
}

// late tells whether a write's answer comes too late to be told.
func (s *server) late(q *request) bool {
	return q.writes() && time.Now().After(s.deadline(q))
}

// deadlines lends contexts to commands. Commands that arrive within one tick share a context and thereby one timer:
// a timer for each costs a microsecond, of which a renewal has few. A context of here does not end when the client
// goes away, which is as well, since a proposal given up is no proposal withdrawn.
type deadlines struct {
	tick time.Duration

	mu      sync.Mutex // guards what follows
	end     time.Time
	current context.Context
	cancel  context.CancelFunc // called by nobody: the context ends at its deadline, which is near
}

func newDeadlines(deadline time.Duration) *deadlines {
	return &deadlines{tick: deadline / 50}
}

// until returns a context that ends at deadline, or up to a tick earlier or later.
func (d *deadlines) until(deadline time.Time) context.Context {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.current == nil || deadline.Sub(d.end).Abs() >= d.tick {
		d.end = deadline
		d.current, d.cancel = context.WithDeadline(context.Background(), deadline)
	}
	return d.current
}

// commandContext ends at the request's deadline.
func (s *server) commandContext(q *request) context.Context {
	return s.deadlines.until(s.deadline(q))
}
