package sim

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// stream is one direction of a connection: bytes in order, over a link. It has at most one reader and one writer at a
// time.
type stream struct {
	link *link

	mu       sync.Mutex // guards what follows; never held while waiting
	packets  []packet   // on their way
	bytes    int        // in packets
	ended    bool       // the last packet carries the end
	shut     bool       // the reader has closed its side
	broken   error      // what both sides are told at once
	silent   bool       // a side is gone without a word: nothing arrives, and what is written is lost
	read     deadline
	write    deadline
	alarm    *time.Timer   // wakes the reader when the first packet is due, and at its deadline
	readable chan struct{} // holds one ring for the reader
	writable chan struct{} // and one for the writer
}

// packet is what one write sent, or the end.
type packet struct {
	data      []byte
	end       error // nil for data
	sent, due time.Time
}

// window is how many bytes may be on their way.
const window = 64 << 10

func newStream(l *link) *stream {
	s := &stream{link: l, readable: make(chan struct{}, 1), writable: make(chan struct{}, 1), alarm: time.NewTimer(never)}
	s.alarm.Stop()
	return s
}

// never is longer than any simulation.
const never = 1 << 62

// wind sets the alarm to a time, of which zero is never. The caller holds mu.
func (s *stream) wind(at time.Time) {
	if at.IsZero() {
		s.alarm.Stop()
		return
	}
	s.alarm.Reset(time.Until(at))
}

// deadline is a point in time for one side of a stream.
type deadline struct{ at time.Time }

func (d deadline) passed(now time.Time) bool { return !d.at.IsZero() && !now.Before(d.at) }

// sooner returns the earlier of two times, of which zero is never.
func (d deadline) sooner(at time.Time) time.Time {
	if at.IsZero() || !d.at.IsZero() && d.at.Before(at) {
		return d.at
	}
	return at
}

func ring(bell chan struct{}) {
	select {
	case bell <- struct{}{}:
	default:
	}
}

// Read takes what has arrived.
func (s *stream) Read(p []byte) (int, error) {
	for {
		now := time.Now()
		s.mu.Lock()
		if s.broken != nil {
			defer s.mu.Unlock()
			return 0, s.broken
		}
		if s.shut {
			s.mu.Unlock()
			return 0, net.ErrClosed
		}
		if s.read.passed(now) {
			s.mu.Unlock()
			return 0, os.ErrDeadlineExceeded
		}
		var wake time.Time
		var changed <-chan struct{}
		if len(s.packets) > 0 && !s.silent {
			first := &s.packets[0]
			at, stuck, change := s.link.arrives(first.sent, first.due)
			if !stuck && !at.After(now) {
				n, err := s.take(p)
				s.mu.Unlock()
				return n, err
			}
			wake, changed = at, change
		}
		s.wind(s.read.sooner(wake))
		s.mu.Unlock()
		select {
		case <-s.readable:
		case <-changed:
		case <-s.alarm.C:
		}
	}
}

// take takes of the first packet. The caller holds mu.
func (s *stream) take(p []byte) (int, error) {
	first := &s.packets[0]
	if first.end != nil {
		return 0, first.end // and stays
	}
	n := copy(p, first.data)
	first.data = first.data[n:]
	if len(first.data) == 0 {
		s.packets[0] = packet{}
		s.packets = s.packets[1:]
	}
	if s.bytes >= window {
		ring(s.writable)
	}
	s.bytes -= n
	return n, nil
}

// await returns when a bell rings or it is time. A zero time never comes.
func await(bell <-chan struct{}, at time.Time) {
	if at.IsZero() {
		<-bell
		return
	}
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-bell:
	case <-timer.C:
	}
}

// Write sends p, and waits while too much is on its way.
func (s *stream) Write(p []byte) (int, error) {
	for {
		now := time.Now()
		s.mu.Lock()
		switch {
		case s.broken != nil:
			defer s.mu.Unlock()
			return 0, s.broken
		case s.ended:
			s.mu.Unlock()
			return 0, net.ErrClosed
		case s.write.passed(now):
			s.mu.Unlock()
			return 0, os.ErrDeadlineExceeded
		case s.silent || s.shut && s.link.stuck():
			s.mu.Unlock()
			return len(p), nil
		case s.shut:
			s.mu.Unlock()
			return 0, errReset
		case s.bytes < window:
			s.send(now, packet{data: append([]byte(nil), p...)})
			s.mu.Unlock()
			if s.link.resets() {
				s.fail(errReset)
			}
			return len(p), nil
		}
		wake := s.write.at
		s.mu.Unlock()
		await(s.writable, wake)
	}
}

// send puts a packet on its way. A reader that waits wakes when it is due, and not before. The caller holds mu.
func (s *stream) send(now time.Time, p packet) {
	p.sent, p.due = now, s.link.due(now)
	if n := len(s.packets); n > 0 && p.due.Before(s.packets[n-1].due) {
		p.due = s.packets[n-1].due
	}
	s.packets = append(s.packets, p)
	s.bytes += len(p.data)
	if len(s.packets) == 1 {
		s.wind(s.read.sooner(p.due))
	}
}

// end lets the reader know, after all that was written, that no more comes: io.EOF, or what broke it off.
func (s *stream) end(reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.ended = true
	ring(s.writable)
	if s.silent {
		return
	}
	s.send(time.Now(), packet{end: reason})
}

// shutDown closes the reader's side. The writer learns of it when it writes the next time.
func (s *stream) shutDown() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shut = true
	ring(s.readable)
	ring(s.writable)
}

// fail ends both sides at once, whatever is on its way.
func (s *stream) fail(reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken == nil {
		s.broken = reason
	}
	ring(s.readable)
	ring(s.writable)
}

// silence makes the stream stand still for good, without anybody being told.
func (s *stream) silence() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent = true
	ring(s.readable)
	ring(s.writable)
}

// gone says whether a side went without a word.
func (s *stream) gone() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.silent
}

// answer ends a silence: whatever was on its way is lost, and the reader is told of a reset.
func (s *stream) answer() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent, s.ended, s.packets, s.bytes = false, true, nil, 0
	s.send(time.Now(), packet{end: errReset})
	ring(s.readable)
}

func (s *stream) setReadDeadline(t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read.at = t
	ring(s.readable)
}

func (s *stream) setWriteDeadline(t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write.at = t
	ring(s.writable)
}

var _ io.ReadWriter = (*stream)(nil)
