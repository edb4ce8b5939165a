package cluster

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// teller sends the voters empty append calls while this node leads: after a commit, so that followers need not wait
// for the next entry to learn of it, and as the probe of a read round. One runs for each voter; asking while a call is
// under way makes one more follow.
type teller struct {
	node *Node

	mu    sync.Mutex // guards what follows
	ctx   context.Context
	term  uint64
	wakes map[raft.ServerID]chan struct{}
	tasks sync.WaitGroup
}

func newTeller(n *Node) *teller { return &teller{node: n} }

// start begins telling as the leader of term, until ctx ends.
func (t *teller) start(ctx context.Context, term uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ctx, t.term, t.wakes = ctx, term, make(map[raft.ServerID]chan struct{})
}

// tell lets the followers know what has been applied here.
func (t *teller) tell() { t.probe() }

// probe makes every voter answer a request sent after this call.
func (t *teller) probe() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ctx == nil || t.ctx.Err() != nil {
		return
	}
	for _, id := range voterIDs(t.node.core().GetConfiguration().Configuration()) {
		if id == raft.ServerID(t.node.config.ID) {
			continue
		}
		wake, ok := t.wakes[id]
		if !ok {
			wake = make(chan struct{}, 1)
			t.wakes[id] = wake
			ctx, term := t.ctx, t.term
			t.tasks.Go(func() { t.run(ctx, id, term, wake) })
		}
		signal(wake)
	}
}

// run tells one voter whenever it is woken. What it tells is a fact of the log at that moment: the entry that the
// machine applied last is committed, so naming it as previous entry and as commit index is safe in any term that this
// node leads.
func (t *teller) run(ctx context.Context, id raft.ServerID, term uint64, wake chan struct{}) {
	refused := 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-wake:
		}
		index, indexTerm := t.node.machine.Applied()
		req := raft.AppendEntriesRequest{Term: term, PrevLogEntry: index, PrevLogTerm: indexTerm, LeaderCommitIndex: index}
		wait := pause // the voter is away: it must not be called in a tight loop
		switch err := t.node.transport.probe(id, req); {
		case err == nil:
			refused = 0
			continue
		case errors.Is(err, errRefused):
			// It holds less of the log than the majority. What it lacks is mostly on its way, on another connection.
			wait = time.Millisecond
			if refused++; refused <= maxRetold {
				signal(wake)
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// maxRetold is how often in a row a voter that refused is told once more. One that lags further behind learns the
// commit index with the entries that it gets.
const maxRetold = 10

// wait returns when all calls have ended, after the context of the last term has.
func (t *teller) wait() { t.tasks.Wait() }
