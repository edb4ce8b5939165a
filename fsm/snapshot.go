package fsm

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/hashicorp/raft"
)

// snapshot is a machine's state at one index. It holds pointers to what never changes.
type snapshot struct {
	view     *view
	sessions []sharedSession
	ended    []SessionID
	options  Options
}

// Snapshot implements raft.FSM: it only takes pointers, all work is in Persist.
func (m *Machine) Snapshot() (raft.FSMSnapshot, error) { return m.share(), nil }

// share takes hold of everything as of one index. The writer copies a session before it next changes it.
func (m *Machine) share() *snapshot {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &snapshot{
		view:     m.view.Load(),
		sessions: m.sessions.share(),
		ended:    m.sessions.ended,
		options:  m.options,
	}
}

// Release implements raft.FSMSnapshot.
func (s *snapshot) Release() {}

// Persist implements raft.FSMSnapshot. Equal machines write equal bytes.
func (s *snapshot) Persist(sink raft.SnapshotSink) error {
	if err := s.write(sink); err != nil {
		_ = sink.Cancel() // the write's error tells more
		return fmt.Errorf("write snapshot at index %d: %w", s.view.index, err)
	}
	return sink.Close()
}

// write writes, in this order: a head with the numbers of what follows, sessions, ended sessions, objects, events.
func (s *snapshot) write(to io.Writer) error {
	w, err := newBlockWriter(to)
	if err != nil {
		return err
	}
	oldest := s.view.window.tail(s.options.TailEvents, uint64(max(0, s.options.TailBytes)))
	w.buffer = s.appendHead(w.buffer, oldest)
	for _, session := range s.sessions {
		w.buffer = session.appendTo(w.buffer)
		w.next()
	}
	for _, id := range s.ended {
		w.buffer = append(w.buffer, id[:]...)
		w.next()
	}
	s.view.state.root.each(func(object *Object) bool {
		w.buffer = object.appendTo(w.buffer)
		return w.next()
	})
	for revision := oldest; revision < s.view.window.newest && w.err == nil; {
		for _, event := range s.view.window.at(revision + 1) {
			w.buffer = s.appendEvent(w.buffer, &event, oldest)
			w.next()
			revision++
		}
	}
	return w.end()
}

func (s *snapshot) appendHead(dst []byte, oldest uint64) []byte {
	for _, number := range []uint64{
		s.view.index, s.view.term, s.view.state.revision, oldest, s.view.limit,
		uint64(len(s.sessions)), uint64(len(s.ended)), uint64(s.view.state.Len()),
	} {
		dst = binary.AppendUvarint(dst, number)
	}
	return appendMap(dst, s.view.incarnations)
}

func (s sharedSession) appendTo(dst []byte) []byte {
	dst = append(dst, s.id[:]...)
	dst = field(dst, s.node)
	dst = binary.AppendUvarint(dst, s.mark)
	n := 0
	s.results(func(uint64, Result) { n++ })
	dst = binary.AppendUvarint(dst, uint64(n))
	s.results(func(seq uint64, result Result) {
		dst = binary.AppendUvarint(dst, seq)
		dst = append(dst, byte(result.Outcome))
		dst = binary.AppendUvarint(dst, result.Revision)
	})
	return dst
}

func (o *Object) appendTo(dst []byte) []byte {
	dst = o.Key.appendTo(dst)
	dst = field(dst, o.UID)
	dst = binary.AppendUvarint(dst, o.Revision)
	dst = binary.AppendUvarint(dst, o.Created)
	return field(dst, o.Data)
}

// Where an event's versions are to be found. Each version is written once.
const (
	absent  = 0 // there is none
	inline  = 1 // here
	stored  = 2 // among the objects
	earlier = 3 // it was made by the event whose revision follows
)

// appendEvent writes an event without its revision, which is its place. With the versions before it, At works for the
// whole tail.
func (s *snapshot) appendEvent(dst []byte, event *Event, oldest uint64) []byte {
	dst = append(dst, byte(event.Type))
	if present := s.view.state.Get(event.Object.Key); present == event.Object {
		dst = append(dst, stored)
		dst = event.Object.Key.appendTo(dst)
	} else {
		dst = append(dst, inline)
		dst = event.Object.appendTo(dst)
	}
	switch previous := event.Previous; {
	case previous == nil:
		dst = append(dst, absent)
	case previous.Revision > oldest:
		dst = append(dst, earlier)
		dst = binary.AppendUvarint(dst, previous.Revision)
	default:
		dst = append(dst, inline)
		dst = previous.appendTo(dst)
	}
	return dst
}

// tail returns the oldest revision of the part of the window that may ride in a snapshot: its newest events within both
// bounds.
func (w *window) tail(events int, bytes uint64) (oldest uint64) {
	if w.newest-w.oldest <= uint64(max(0, events)) && w.bytes <= bytes {
		return w.oldest
	}
	oldest = w.newest
	var size uint64
	for oldest > w.oldest && w.newest-oldest < uint64(max(0, events)) {
		size += uint64(w.event(oldest).size)
		if size > bytes {
			break
		}
		oldest--
	}
	return oldest
}
