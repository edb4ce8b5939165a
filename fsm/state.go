package fsm

import "iter"

// FirstRevision is where a new cluster's counter starts; nothing older exists.
const FirstRevision = 1000

// State is everything stored as of one revision. It never changes and may be kept as long as wanted.
type State struct {
	revision uint64
}

// Revision returns the revision of the last change in this state.
func (s *State) Revision() uint64 { return s.revision }

// Get returns the object under key, or nil.
func (s *State) Get(key Key) *Object { return nil }

// Scan yields the objects of a resource in order, of one namespace or of all ("" ), beginning after the key
// namespace/name of after ("" begins at the start).
func (s *State) Scan(resource, namespace, after string) iter.Seq[*Object] {
	return func(yield func(*Object) bool) {}
}

// Count returns how many objects Scan with the same arguments would yield, without visiting them all.
func (s *State) Count(resource, namespace, after string) int { return 0 }
