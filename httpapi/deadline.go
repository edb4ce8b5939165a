package httpapi

import (
	"context"
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

// commandContext ends at the request's deadline, or when its client goes away.
func (s *server) commandContext(q *request) (context.Context, context.CancelFunc) {
	return context.WithDeadline(q.context(), s.deadline(q))
}

// late tells whether a write's answer comes too late to be told.
func (s *server) late(q *request) bool {
	return q.writes() && time.Now().After(s.deadline(q))
}
