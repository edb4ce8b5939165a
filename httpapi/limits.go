package httpapi

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"
)

// limits counts what is being answered. Watches are counted apart: they are many and idle.
type limits struct {
	maxInFlight int64
	maxWatches  int64
	inFlight    atomic.Int64
	watches     atomic.Int64
	leave       func() // of a request that is no watch; made once, since each request needs one
	leaveWatch  func()
}

func newLimits(maxInFlight, maxWatches int) *limits {
	l := &limits{maxInFlight: int64(maxInFlight), maxWatches: int64(maxWatches)}
	l.leave = func() { l.inFlight.Add(-1) }
	l.leaveWatch = func() { l.watches.Add(-1) }
	return l
}

// enter counts a request in; the caller must call leave when it is answered. Health is always let in: a supervisor
// that cannot ask would kill a server for being busy.
func (l *limits) enter(q *request) (leave func(), err error) {
	if q.verb == "watch" {
		if l.watches.Add(1) > l.maxWatches {
			l.watches.Add(-1)
			return nil, errTooManyWatches
		}
		return l.leaveWatch, nil
	}
	if l.inFlight.Add(1) > l.maxInFlight && !q.health {
		l.inFlight.Add(-1)
		return nil, errTooManyRequests
	}
	return l.leave, nil
}

// plausibleBody is how much memory is made ready for a body because its sender says that it will be so long, in bytes.
const plausibleBody = 64 << 10

// readBody reads the body of a verb that has one.
func (q *request) readBody(out http.ResponseWriter) error {
	if !q.writes() {
		return nil
	}
	length := q.http.ContentLength
	if length > maxBody {
		return errBodyTooLarge
	}
	if q.http.ProtoMajor == 1 && length != 0 {
		// The server's own bound is on the answer alone. It sets the deadline anew for the connection's next request.
		if server, ok := q.http.Context().Value(http.ServerContextKey).(*http.Server); ok && server.WriteTimeout > 0 {
			_ = http.NewResponseController(out).SetReadDeadline(q.arrived.Add(server.WriteTimeout))
		}
	}
	var err error
	if length >= 0 && length <= plausibleBody {
		q.body = make([]byte, length)
		_, err = io.ReadFull(q.http.Body, q.body)
	} else {
		q.body, err = io.ReadAll(http.MaxBytesReader(nil, q.http.Body, maxBody))
	}
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return errBodyTooLarge
	case err != nil:
		return badRequest("reading the request body: %v", err)
	}
	return nil
}
