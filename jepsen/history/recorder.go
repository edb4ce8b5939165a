package history

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
)

// Recorder writes a history as it happens. It is safe for many goroutines. Lines have rising indexes and times.
type Recorder struct {
	began  time.Time
	follow func(Event)

	mu    sync.Mutex // guards what follows
	out   *bufio.Writer
	index int64
	last  int64
	err   error
}

// NewRecorder begins a history on out. follow, which may be nil, is told of each line in order and must be quick.
func NewRecorder(out io.Writer, follow func(Event)) *Recorder {
	return &Recorder{began: time.Now(), follow: follow, out: bufio.NewWriterSize(out, 64<<10)}
}

// Record adds an event, gives it its index and time, and returns them within it. For an Invoke it must be called before
// the first byte is sent, for a completion after the last was read.
func (r *Recorder) Record(e Event) Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.index++
	e.Index = r.index
	e.Time = max(time.Since(r.began).Nanoseconds(), r.last)
	r.last = e.Time
	line, err := json.Marshal(e)
	if err == nil {
		_, err = r.out.Write(append(line, '\n'))
	}
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("write history: %w", err)
	}
	if r.follow != nil {
		r.follow(e)
	}
	return e
}

// Now returns the time on the history's clock, in nanoseconds.
func (r *Recorder) Now() int64 { return time.Since(r.began).Nanoseconds() }

// Flush writes out what is buffered and returns the first error that writing met. A run calls it every second, so that
// little is missing if the harness itself dies.
func (r *Recorder) Flush() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.out.Flush(); err != nil && r.err == nil {
		r.err = fmt.Errorf("write history: %w", err)
	}
	return r.err
}
