package cluster

import (
	"sync"

	"github.com/hashicorp/raft"
)

// holdback keeps replication to an unreachable peer waiting until the peer answers a heartbeat. Raft itself would try
// and fail, each time waiting twice as long as before, up to 10 s: a peer that returns is then level only that much
// later. Heartbeats back off by no more than half of the heartbeat timeout, and they go on while replication is held.
//
// A held call ends when the peer answers, when this node no longer leads the call's term or the peer is no longer a
// member (looked at whenever a heartbeat has failed), and when the transport is closed.
type holdback struct {
	closed <-chan struct{} // the transport's

	mu    sync.Mutex // guards all below; never held across a wait
	leads func(peer raft.ServerID, term uint64) bool
	away  map[raft.ServerID]chan struct{} // closed and replaced at each failure, closed and deleted at an answer
}

func (h *holdback) attach(leads func(peer raft.ServerID, term uint64) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.leads = leads
}

// failed notes that a call to the peer did not get through.
func (h *holdback) failed(id raft.ServerID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.away == nil {
		h.away = make(map[raft.ServerID]chan struct{})
	}
	if news := h.away[id]; news != nil {
		close(news)
	}
	h.away[id] = make(chan struct{})
}

// answered notes that a call to the peer got through.
func (h *holdback) answered(id raft.ServerID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if news := h.away[id]; news != nil {
		close(news)
		delete(h.away, id)
	}
}

// wait returns nil once the peer is thought reachable.
func (h *holdback) wait(id raft.ServerID, term uint64) error {
	for {
		h.mu.Lock()
		news, leads := h.away[id], h.leads
		h.mu.Unlock()
		if news == nil || leads == nil {
			return nil
		}
		if !leads(id, term) {
			return errReleased
		}
		select {
		case <-news:
		case <-h.closed:
			return raft.ErrTransportShutdown
		}
	}
}
