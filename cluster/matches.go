package cluster

import (
	"sync"

	"github.com/hashicorp/raft"
)

// matches remembers for each peer how far its log is known to agree with this leader's. What a peer has acknowledged
// to the leader of a term it keeps as long as it follows that leader.
type matches struct {
	mu    sync.Mutex // guards all below; never held across a wait
	peers map[raft.ServerID]match
}

type match struct {
	term             uint64 // in which this node led when it learned this
	index, indexTerm uint64 // of the last entry known to be there
	awaited          uint64 // wake is to be signalled when index has come so far; 0 when nobody waits
	wake             chan struct{}
}

// note takes a peer's success with entries up to index, told to it by the leader of term.
func (m *matches) note(id raft.ServerID, term, index, indexTerm uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.peers[id]
	if term < known.term || term == known.term && index <= known.index {
		return
	}
	known.term, known.index, known.indexTerm = term, index, indexTerm
	if known.awaited > 0 && index >= known.awaited {
		signal(known.wake)
		known.awaited = 0
	}
	if m.peers == nil {
		m.peers = make(map[raft.ServerID]match)
	}
	m.peers[id] = known
}

// noteAppend takes a peer's answer to req.
func (m *matches) noteAppend(id raft.ServerID, req *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) {
	if !resp.Success || resp.Term != req.Term {
		return
	}
	index, indexTerm := req.PrevLogEntry, req.PrevLogTerm
	if n := len(req.Entries); n > 0 {
		index, indexTerm = req.Entries[n-1].Index, req.Entries[n-1].Term
	}
	m.note(id, req.Term, index, indexTerm)
}

// upTo returns the entry with index and its term if the peer is known to hold it, and else the last one before it that
// the peer is known to hold, 0 when nothing is known in this term. In that case wake is signalled when the peer is known
// to have come to index.
func (m *matches) upTo(id raft.ServerID, term, index, indexTerm uint64, wake chan struct{}) (uint64, uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.peers[id]
	if known.term == term && known.index >= index {
		return index, indexTerm
	}
	if m.peers == nil {
		m.peers = make(map[raft.ServerID]match)
	}
	known.awaited, known.wake = index, wake
	m.peers[id] = known
	if known.term != term {
		return 0, 0
	}
	return known.index, known.indexTerm
}
