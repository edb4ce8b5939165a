package cluster

import (
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// installs slows a leader that sends one peer snapshot after snapshot although none of them gets it anywhere
// (hashicorp/raft issue 697; what is known to cause it is cured on the receiving side, in align.go). Each costs the
// peer a write of the whole state and both of them a read, so from the third in a row on they wait, first for a second
// and then twice as long each time, up to a minute, and say what an operator can do.
type installs struct {
	logger hclog.Logger
	closed <-chan struct{} // the transport's

	mu    sync.Mutex // guards all below; never held across a wait
	leads func(peer raft.ServerID, term uint64) bool
	inRow map[raft.ServerID]int // snapshots sent to the peer since it last took an entry
}

const (
	freeInstalls   = 2
	firstInstall   = time.Second
	slowestInstall = time.Minute
)

func (i *installs) attach(leads func(peer raft.ServerID, term uint64) bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.leads = leads
}

// progressed notes that the peer's log agrees with ours somewhere, so that snapshots have done what they are for.
func (i *installs) progressed(id raft.ServerID) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.inRow, id)
}

// wait returns when the next snapshot may be sent to the peer, and counts it.
func (i *installs) wait(id raft.ServerID, term uint64) error {
	i.mu.Lock()
	if i.inRow == nil {
		i.inRow = make(map[raft.ServerID]int)
	}
	i.inRow[id]++
	inRow, leads := i.inRow[id], i.leads
	i.mu.Unlock()
	if inRow <= freeInstalls {
		return nil
	}
	pause := min(firstInstall<<min(inRow-freeInstalls-1, 16), slowestInstall)
	i.logger.Error("peer takes snapshots but no entries after them; if this goes on, remove the member, wipe its data directory and let it join anew",
		"peer", id, "snapshots", inRow-1, "next", pause)
	// Looking up every second whether we still lead bounds how long raft waits for this goroutine when it stops.
	for pause > 0 {
		if leads != nil && !leads(id, term) {
			return errReleased
		}
		step := min(pause, time.Second)
		pause -= step
		select {
		case <-time.After(step):
		case <-i.closed:
			return raft.ErrTransportShutdown
		}
	}
	return nil
}
