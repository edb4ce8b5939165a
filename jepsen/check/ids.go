package check

import (
	"hash/maphash"

	"github.com/leasehold/leasehold/jepsen/history"
)

// ids finds the operation that a write's ID is of. There are as many as writes, so it is a plain table that holds no strings:
// those are compared in the history itself.
type ids struct {
	ops   []history.Operation
	slots []slot
}

type slot struct {
	hash uint32
	op   int32 // plus one; 0 if the slot is free
}

// idsFor returns a table for at most n IDs of operations.
func idsFor(ops []history.Operation, n int) ids {
	size := 16
	for size < 2*n {
		size *= 2
	}
	return ids{ops: ops, slots: make([]slot, size)}
}

// put notes that an ID is an operation's. Of two operations with one ID the last counts.
func (t *ids) put(id string, op int32) {
	s, hash := t.slot(id)
	*s = slot{hash: hash, op: op + 1}
}

// find returns the operation of an ID.
func (t *ids) find(id string) (int32, bool) {
	if len(t.slots) == 0 {
		return none, false
	}
	s, _ := t.slot(id)
	return s.op - 1, s.op > 0
}

// slot is where an ID is or would be, with its hash.
func (t *ids) slot(id string) (*slot, uint32) {
	sum := maphash.String(seed, id)
	hash := uint32(sum >> 32)
	for i := sum & uint64(len(t.slots)-1); ; i = (i + 1) & uint64(len(t.slots)-1) {
		s := &t.slots[i]
		if s.op == 0 || s.hash == hash && t.ops[s.op-1].Request.ID == id {
			return s, hash
		}
	}
}
