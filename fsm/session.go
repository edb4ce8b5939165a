package fsm

import (
	"bytes"
	"slices"
	"strings"
)

const (
	// sessionWindow bounds the results kept for a session: those of the seqs above its mark, and the mark is never more
	// than this below the highest seq that was reached in the log. A node that has more proposals open than this is told
	// Stale when it repeats the oldest of them; none is ever applied twice.
	sessionWindow = 1 << 16

	// endedSessions is how many ended sessions are remembered, so that a copy of the command that opened one, come late,
	// cannot open it again and let in late copies of its changes.
	endedSessions = 1024
)

// sessions is the table of open sessions: at most one for each node.
type sessions struct {
	open  map[SessionID]*session
	ended []SessionID // the last to have ended, in that order; replaced, never changed in place
}

// session is what is remembered of one run of one node.
type session struct {
	node    string
	mark    uint64 // every seq up to and including it is Stale
	highest uint64 // highest seq that has a result
	slots   []slot // a ring, seq modulo its length; a power of two, at least highest - mark
	shared  bool   // a snapshot reads it: the writer goes on with a copy
}

// slot holds the result of seq. One with a seq at or below the mark is free.
type slot struct {
	seq    uint64
	result Result
}

// begin opens a session and ends every other one of its node.
func (t *sessions) begin(id SessionID, node string) Outcome {
	if current := t.open[id]; current != nil {
		if current.node != node {
			return Conflict
		}
		return Accepted
	}
	if slices.Contains(t.ended, id) {
		return Ended
	}
	t.end(node)
	t.open[id] = &session{node: strings.Clone(node)}
	return Accepted
}

// end ends the sessions of a node.
func (t *sessions) end(node string) {
	for id, current := range t.open { // one at most: the order is no matter
		if current.node == node {
			delete(t.open, id)
			t.ended = append(slices.Clone(t.ended[max(0, len(t.ended)-endedSessions+1):]), id)
		}
	}
}

// find returns an open session for the writer to change, or nil.
func (t *sessions) find(id SessionID) *session {
	current := t.open[id]
	if current == nil || !current.shared {
		return current
	}
	next := *current
	next.slots = slices.Clone(current.slots)
	next.shared = false
	t.open[id] = &next
	return &next
}

// share returns the sessions in order of their ID as they are now. The writer will leave them so.
func (t *sessions) share() []sharedSession {
	all := make([]sharedSession, 0, len(t.open))
	for id, current := range t.open {
		current.shared = true
		all = append(all, sharedSession{id, current})
	}
	slices.SortFunc(all, func(a, b sharedSession) int { return bytes.Compare(a.id[:], b.id[:]) })
	return all
}

type sharedSession struct {
	id SessionID
	*session
}

// raise moves the mark up for a command that carries mark and seq.
func (s *session) raise(mark, seq uint64) {
	s.mark = max(s.mark, mark)
	if seq > sessionWindow {
		s.mark = max(s.mark, seq-sessionWindow)
	}
}

// kept returns the result of a seq above the mark, if it has one.
func (s *session) kept(seq uint64) (Result, bool) {
	if len(s.slots) == 0 {
		return Result{}, false
	}
	slot := &s.slots[seq&uint64(len(s.slots)-1)]
	return slot.result, slot.seq == seq
}

// keep stores the result of a seq above the mark.
func (s *session) keep(seq uint64, result Result) {
	s.highest = max(s.highest, seq)
	if s.highest-s.mark > uint64(len(s.slots)) {
		s.grow()
	}
	s.slots[seq&uint64(len(s.slots)-1)] = slot{seq, result}
}

func (s *session) grow() {
	size := uint64(max(64, len(s.slots)))
	for size < s.highest-s.mark {
		size *= 2
	}
	slots := s.slots
	s.slots = make([]slot, size)
	for _, slot := range slots {
		if slot.seq > s.mark {
			s.slots[slot.seq&(size-1)] = slot
		}
	}
}

// results calls yield with each kept result in order of seq.
func (s *session) results(yield func(seq uint64, result Result)) {
	for seq := s.mark + 1; seq > s.mark && seq <= s.highest; seq++ {
		if result, ok := s.kept(seq); ok {
			yield(seq, result)
		}
	}
}

func newSessions() sessions { return sessions{open: map[SessionID]*session{}} }
