package fsm

import (
	"iter"
	"unsafe"
)

// FirstRevision is where a new cluster's counter starts; nothing older exists.
const FirstRevision = 1000

// State is everything stored as of one revision. It never changes and may be kept as long as wanted.
type State struct {
	revision uint64
	root     *node // nil when nothing is stored
}

// Revision returns the revision of the last change in this state.
func (s *State) Revision() uint64 { return s.revision }

// Len returns how many objects of all resources are stored.
func (s *State) Len() int {
	if s.root == nil {
		return 0
	}
	return s.root.count
}

// Get returns the object under key, or nil.
func (s *State) Get(key Key) *Object {
	var space [128]byte
	id := key.appendID(space[:0])
	return s.root.find(unsafe.String(unsafe.SliceData(id), len(id))) // find keeps nothing of it
}

// Scan yields the objects of a resource in order, of one namespace or of all ("" ), beginning after the key
// namespace/name of after ("" begins at the start). It begins no earlier than the namespace does.
func (s *State) Scan(resource, namespace, after string) iter.Seq[*Object] {
	from, to := bounds(resource, namespace, after)
	return func(yield func(*Object) bool) {
		s.root.scan(from, to, yield)
	}
}

// Count returns how many objects Scan with the same arguments would yield, without visiting them all.
func (s *State) Count(resource, namespace, after string) int {
	from, to := bounds(resource, namespace, after)
	return max(0, s.root.rank(to)-s.root.rank(from))
}

// bounds returns the range of ids, to exclusive, of a listing.
func bounds(resource, namespace, after string) (from, to string) {
	if namespace == "" {
		from, to = resource+"\x00", resource+"\x01"
	} else {
		from, to = resource+"\x00"+namespace+"/", resource+"\x00"+namespace+"0" // '0' follows '/'
	}
	if after != "" {
		from = max(from, resource+"\x00"+after+"\x00") // the least string greater than the key itself
	}
	return from, to
}
