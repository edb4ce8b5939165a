package cluster

import (
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// acks remembers, for each peer, the newest request that it answered as a follower of this node. Raft's own
// VerifyLeader counts an answer whenever its request was sent, so that a leader that was paused through an election
// takes an old answer for a fresh one and serves old state. What counts here is when the request was *sent*, on the
// monotonic clock.
type acks struct {
	mu     sync.Mutex // guards all below; never held across a wait
	newest map[raft.ServerID]ack
	change chan struct{} // closed at the next note; nil when nobody waits
}

type ack struct {
	term uint64
	sent time.Time
}

// note takes an answer to req, which was handed over for sending at sent.
func (a *acks) note(id raft.ServerID, req *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse, sent time.Time) {
	if !resp.Success || resp.Term != req.Term {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	newest := a.newest[id]
	if req.Term < newest.term || req.Term == newest.term && !sent.After(newest.sent) {
		return
	}
	if a.newest == nil {
		a.newest = make(map[raft.ServerID]ack)
	}
	a.newest[id] = ack{term: req.Term, sent: sent}
	if a.change != nil {
		close(a.change)
		a.change = nil
	}
}

// quorumSince reports whether a majority of voters has followed the leader of term at some moment at or after since.
// Self counts if it is a voter.
func (t *transport) quorumSince(term uint64, since time.Time, voters []raft.ServerID, self raft.ServerID) bool {
	t.acks.mu.Lock()
	defer t.acks.mu.Unlock()
	count := 0
	for _, id := range voters {
		newest := t.acks.newest[id]
		if id == self || newest.term == term && !newest.sent.Before(since) {
			count++
		}
	}
	return count > len(voters)/2
}

// ackChanged returns a channel that is closed when quorumSince may have more to say. Take it before asking.
func (t *transport) ackChanged() <-chan struct{} {
	t.acks.mu.Lock()
	defer t.acks.mu.Unlock()
	if t.acks.change == nil {
		t.acks.change = make(chan struct{})
	}
	return t.acks.change
}
