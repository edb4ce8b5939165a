package fsm

import "errors"

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
	Revision uint64
	Object   *Object // the version made; of a deletion the last state, with the deletion's revision as its Revision
	Previous *Object // the version before, nil for Added
}

// History is the window of changes that this machine still remembers.
type History struct{}

// Oldest returns the smallest revision r for which After(r) and At(r) answer.
func (h *History) Oldest() uint64 { return 0 }

// Bytes returns the size of what is remembered, for deciding on compaction.
func (h *History) Bytes() int { return 0 }

// After returns the changes with a revision above revision, in order and at most limit of them, and a channel that is
// closed once there is more to ask for than was returned. A revision in the future yields no events until it has
// passed. ErrExpired when the window no longer reaches back that far, also after a Restore that left a gap.
func (h *History) After(revision uint64, limit int) (events []Event, more <-chan struct{}, err error) {
	return nil, nil, ErrExpired
}

// At returns the state as of revision: ErrExpired below the window, ErrFuture above the present.
func (h *History) At(revision uint64) (*State, error) { return nil, ErrExpired }
