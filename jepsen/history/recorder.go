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

	mu    sync.Mutex    // guards what follows
	out   *bufio.Writer // nil if nothing is written; never changes
	index int64
	last  int64
	err   error
}

// NewRecorder begins a history on out; with out nil nothing is written. follow, which may be nil, is told of each line in
// order and must be quick.
func NewRecorder(out io.Writer, follow func(Event)) *Recorder {
	r := &Recorder{began: time.Now(), follow: follow}
	if out != nil {
		r.out = bufio.NewWriterSize(out, 64<<10)
	}
	return r
}

// Write writes events, as a Recorder gave them out, as the lines that it would have written.
func Write(out io.Writer, events []Event) error {
	buffered := bufio.NewWriterSize(out, 64<<10)
	for i := range events {
		if err := writeLine(buffered, events[i]); err != nil {
			return fmt.Errorf("write history: %w", err)
		}
	}
	if err := buffered.Flush(); err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	return nil
}

func writeLine(out *bufio.Writer, e Event) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = out.Write(append(line, '\n'))
	return err
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
	if r.out != nil {
		if err := writeLine(r.out, e); err != nil && r.err == nil {
			r.err = fmt.Errorf("write history: %w", err)
		}
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
	if r.out == nil {
		return nil
	}
	if err := r.out.Flush(); err != nil && r.err == nil {
		r.err = fmt.Errorf("write history: %w", err)
	}
	return r.err
}
