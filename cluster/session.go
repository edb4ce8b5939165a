package cluster

import (
	"crypto/rand"

	"github.com/leasehold/leasehold/fsm"
)

// session numbers this run's commands, so that the machine applies each once however often it is sent. It has no lock
// of its own: the proposer's guards it.
//
// A session is opened by a command before the first proposal goes out. Should the machine say that it has ended (a
// backup was restored, or another process runs under this node's ID), a new one takes its place.
type session struct {
	id   fsm.SessionID
	open bool

	last uint64 // the last seq given out
	mark uint64 // every seq up to here was answered or given up
	over []bool // over[i] tells whether mark+1+i was answered or given up; the first one never was
}

func newSession() *session {
	s := &session{}
	_, _ = rand.Read(s.id[:]) // never fails; see crypto/rand
	return s
}

// next gives out a seq.
func (s *session) next() uint64 {
	s.last++
	s.over = append(s.over, false)
	return s.last
}

// finish records that nobody waits for seq any more, and moves the mark as far as it goes.
func (s *session) finish(seq uint64) {
	if seq <= s.mark || seq > s.last {
		return
	}
	s.over[seq-s.mark-1] = true
	passed := 0
	for passed < len(s.over) && s.over[passed] {
		passed++
	}
	s.mark += uint64(passed)
	s.over = s.over[passed:]
}
