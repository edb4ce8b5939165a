package fsm

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/leasehold/leasehold/fsm/seeded"
)

// Restore implements raft.FSM. It replaces everything by the snapshot's, or on an error nothing. It wakes all that wait:
// a watch that was further back than the snapshot's tail finds its revision expired. The history kept before goes, even
// where it would join on: a node restores when it starts, and then has none, or when it fell behind by more than the log.
//
// Raft closes the snapshot.
func (m *Machine) Restore(from io.ReadCloser) error {
	next, sessions, err := readSnapshot(from)
	if err != nil {
		return fmt.Errorf("restore snapshot: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sessions = sessions
	m.publish(next)
	return nil
}

// restoring is a snapshot being read.
type restoring struct {
	*blockReader
	view     *view
	sessions sessions
	edit     edit
	counts   struct{ sessions, ended, objects, events uint64 }
}

func readSnapshot(from io.Reader) (*view, sessions, error) {
	reader, err := newBlockReader(from)
	if err != nil {
		return nil, sessions{}, err
	}
	r := &restoring{blockReader: reader, sessions: newSessions()}
	r.edit.begin(nil)
	if err := r.readHead(); err != nil {
		return nil, sessions{}, err
	}
	for _, part := range []struct {
		count uint64
		read  func(*cursor) error
	}{
		{r.counts.sessions, r.readSession},
		{r.counts.ended, r.readEnded},
		{r.counts.objects, r.readObject},
		{r.counts.events, r.readEvent},
	} {
		for range part.count {
			c, err := r.record()
			if err != nil {
				return nil, sessions{}, err
			}
			if err := part.read(c); err != nil {
				return nil, sessions{}, err
			}
			if c.failed {
				return nil, sessions{}, r.damaged("record cut short")
			}
		}
	}
	if seeded.RVReuse {
		r.view.state.revision = FirstRevision
		r.view.window = window{oldest: FirstRevision, newest: FirstRevision}
	}
	return r.view, r.sessions, r.end()
}

// damaged is a snapshot whose checksums hold but whose records make no sense.
func (r *restoring) damaged(what string) error {
	return fmt.Errorf("block %d: %s: %w", r.number-1, what, ErrSnapshot)
}

func (r *restoring) readHead() error {
	c, err := r.record()
	if err != nil {
		return err
	}
	v := &view{changed: make(chan struct{}), lineage: new(token)}
	v.index, v.term = c.uvarint(), c.uvarint()
	v.state = &State{revision: c.uvarint()}
	v.window.oldest = c.uvarint()
	v.window.newest = v.window.oldest
	v.limit = c.uvarint()
	r.counts.sessions, r.counts.ended, r.counts.objects = c.uvarint(), c.uvarint(), c.uvarint()
	incarnations := c.stringMap()
	if c.failed || v.state.revision < v.window.oldest {
		return r.damaged("head")
	}
	for node, incarnation := range incarnations {
		if v.incarnations == nil {
			v.incarnations = make(map[string]string, len(incarnations))
		}
		v.incarnations[strings.Clone(node)] = strings.Clone(incarnation)
	}
	r.counts.events = v.state.revision - v.window.oldest
	r.view = v
	return nil
}

func (r *restoring) readSession(c *cursor) error {
	id, node, mark := c.session(), c.string(), c.uvarint()
	if r.sessions.begin(id, node) != Accepted || len(r.sessions.ended) > 0 {
		return r.damaged("two sessions of one node")
	}
	restored := r.sessions.find(id)
	restored.mark = mark
	for range c.uvarint() {
		seq := c.uvarint()
		result := Result{Outcome: Outcome(c.byte()), Revision: c.uvarint()}
		if c.failed || seq <= mark || seq-mark > sessionWindow {
			return r.damaged("session")
		}
		restored.keep(seq, result)
	}
	return nil
}

func (r *restoring) readEnded(c *cursor) error {
	r.sessions.ended = append(r.sessions.ended, c.session())
	return nil
}

// readObject needs no order, but refuses the same key twice.
func (r *restoring) readObject(c *cursor) error {
	id, object := c.object()
	if r.edit.find(id) != nil {
		return r.damaged("object twice")
	}
	r.edit.insert(id, object)
	r.view.state.root = r.edit.root
	return nil
}

// object reads a version in memory of its own.
func (c *cursor) object() (id string, object *Object) {
	id, key, uid := c.key().owned(c.string())
	return id, &Object{
		Key:      key,
		UID:      uid,
		Revision: c.uvarint(),
		Created:  c.uvarint(),
		Data:     bytes.Clone(c.bytes()),
	}
}

func (r *restoring) readEvent(c *cursor) error {
	w := &r.view.window
	event := Event{Type: EventType(c.byte()), Revision: w.newest + 1}
	switch c.byte() {
	case stored:
		event.Object = r.view.state.Get(c.key())
	case inline:
		_, event.Object = c.object()
	}
	switch c.byte() {
	case earlier:
		if revision := c.uvarint(); revision > w.oldest && revision <= w.newest {
			event.Previous = w.event(revision).Object
		}
	case inline:
		_, event.Previous = c.object()
	}
	if !event.sound() {
		return r.damaged(fmt.Sprintf("event %d", event.Revision))
	}
	if event.Type == Deleted && bytes.Equal(event.Object.Data, event.Previous.Data) {
		event.Object.Data = event.Previous.Data
	}
	w.append(event)
	return nil
}

// sound reports whether an event is one that apply could have made.
func (e *Event) sound() bool {
	if e.Object == nil || e.Object.Revision != e.Revision {
		return false
	}
	switch e.Type {
	case Added:
		return e.Previous == nil
	case Modified, Deleted:
		return e.Previous != nil && e.Previous.Key == e.Object.Key && e.Previous.Revision < e.Revision
	}
	return false
}
