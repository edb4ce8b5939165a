package fsm

import (
	"errors"
	"fmt"
)

var (
	// ErrExpired says that a revision is older than what the history still holds.
	ErrExpired = errors.New("revision is older than the history kept")
	// ErrFuture says that a revision has not been reached on this node.
	ErrFuture = errors.New("revision has not been reached")
)

// EventType says what a change did to an object.
type EventType uint8

const (
	Added    EventType = 1
	Modified EventType = 2
	Deleted  EventType = 3
)

// Event is one change.
type Event struct {
	Type     EventType
	size     uint32 // what it counts for in History.Bytes
	Revision uint64
	Object   *Object // the version made; of a deletion the last state, with the deletion's revision as its Revision
	Previous *Object // the version before, nil for Added
}

// History is the window of changes that this machine still remembers. It may be used by any number of readers at once.
type History struct {
	machine *Machine
	past    past
}

// Oldest returns the smallest revision r for which After(r) and At(r) answer.
func (h *History) Oldest() uint64 { return h.machine.view.Load().window.oldest }

// Bytes returns the size of what is remembered, for deciding on compaction. The door bounds the renderings.
func (h *History) Bytes() int { return int(h.machine.view.Load().window.bytes) }

// Limit returns the bound on Bytes, above which each change makes the oldest ones be forgotten.
func (h *History) Limit() uint64 { return h.machine.view.Load().limit }

// After returns the changes with a revision above revision, in order and at most limit of them, and a channel that is
// closed once there is more to ask for than was returned. It may return fewer than there are; the channel is closed
// already then. A revision in the future yields no events until it has passed; its reader may be woken early. ErrExpired
// when the window no longer reaches back that far, also after a Restore that left a gap.
//
// The events share the machine's memory: read only.
func (h *History) After(revision uint64, limit int) (events []Event, more <-chan struct{}, err error) {
	v := h.machine.view.Load()
	w := &v.window
	if revision < w.oldest {
		return nil, nil, fmt.Errorf("events after %d, oldest %d: %w", revision, w.oldest, ErrExpired)
	}
	if revision >= w.newest {
		return nil, v.changed, nil
	}
	events = w.at(revision + 1)
	if limit < len(events) {
		events = events[:max(limit, 0):max(limit, 0)]
	}
	if revision+uint64(len(events)) < w.newest {
		return events, h.machine.closed, nil
	}
	return events, v.changed, nil
}

// At returns the state as of revision: ErrExpired below the window, ErrFuture above the present.
func (h *History) At(revision uint64) (*State, error) {
	v := h.machine.view.Load()
	switch {
	case revision < v.window.oldest:
		return nil, fmt.Errorf("state at %d, oldest %d: %w", revision, v.window.oldest, ErrExpired)
	case revision > v.state.revision:
		return nil, fmt.Errorf("state at %d, newest %d: %w", revision, v.state.revision, ErrFuture)
	case revision == v.state.revision:
		return v.state, nil
	}
	return h.past.at(v, revision), nil
}
