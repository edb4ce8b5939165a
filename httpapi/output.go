package httpapi

import (
	"net/http"
	"sync"
	"time"

	"github.com/leasehold/leasehold/httpapi/media"
)

// output is where a watch's frames go.
type output interface {
	// write takes whole frames; if single, one at a time.
	write(accepted media.Accepted, frames []byte) error
	single() bool
	// flush sends what was written.
	flush() error
	// abort makes a write or flush that is under way fail. It may be called from any goroutine.
	abort()
}

// stream is a watch over plain HTTP: frames one after the other, without an end.
type stream struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (s stream) write(_ media.Accepted, frames []byte) error {
	_, err := s.Write(frames)
	return err
}

func (s stream) single() bool { return false }
func (s stream) flush() error { return s.control.Flush() }

// abort sets the deadline only now that it has passed: one for each write would cost more than the write.
func (s stream) abort() { _ = s.control.SetWriteDeadline(time.Now()) }

// maxUnwritten is how many bytes of frames a watch gathers before it writes them in any case: with what the connection
// holds of a stream, all that a client who takes nothing can cost.
const maxUnwritten = 16 << 10

// buffers are lent to watches while they have something to write: thousands of them are idle at any time.
var buffers = sync.Pool{New: func() any {
	buffer := make([]byte, 0, maxUnwritten)
	return &buffer
}}

// room returns the buffer, to append a frame to; emit takes it back.
func (w *watch) room() []byte {
	if w.lent == nil {
		w.lent = buffers.Get().(*[]byte)
		w.buffer = *w.lent
	}
	return w.buffer
}

// emit takes the buffer with one more frame.
func (w *watch) emit(buffer []byte) error {
	w.buffer = buffer
	if w.out.single() || len(buffer) >= maxUnwritten {
		return w.write()
	}
	return nil
}

func (w *watch) write() error {
	w.writing.Store(time.Now().UnixNano())
	defer w.writing.Store(0)
	err := w.out.write(w.form.Accepted, w.buffer)
	w.buffer, w.flushed = w.buffer[:0], false
	return err
}

// flush brings all frames on their way to the client and gives the buffer back.
func (w *watch) flush() error {
	if len(w.buffer) > 0 {
		if err := w.write(); err != nil {
			return err
		}
	}
	if w.lent != nil {
		buffers.Put(w.lent)
		w.lent, w.buffer = nil, nil
	}
	if w.flushed {
		return nil
	}
	w.writing.Store(time.Now().UnixNano())
	defer w.writing.Store(0)
	w.flushed = true
	return w.out.flush()
}
