package cluster

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
)

// teller sends the voters empty append calls while this node leads: after a commit, so that followers need not wait
// for the next entry to learn of it, and as the probe of a read round. One runs for each voter; asking while a call is
// under way makes one more follow.
type teller struct {
	node *Node

	mu        sync.Mutex // guards what follows
	ctx       context.Context
	term      uint64
	listeners map[raft.ServerID]*listener
	tasks     sync.WaitGroup
}

// listener is a voter that is told.
type listener struct {
	id      raft.ServerID
	wake    chan struct{} // capacity 1: there may be something to tell
	probing atomic.Bool   // it must answer, whether or not there is something to tell
}

func newTeller(n *Node) *teller { return &teller{node: n} }

// start begins telling as the leader of term, until ctx ends.
func (t *teller) start(ctx context.Context, term uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ctx, t.term, t.listeners = ctx, term, make(map[raft.ServerID]*listener)
}

// tell lets the followers know what has been applied here.
func (t *teller) tell() { t.wake(false) }

// probe makes every voter answer a request sent after this call.
func (t *teller) probe() { t.wake(true) }

func (t *teller) wake(probing bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ctx == nil || t.ctx.Err() != nil {
		return
	}
	for _, id := range voterIDs(t.node.core().GetConfiguration().Configuration()) {
		if id == raft.ServerID(t.node.config.ID) {
			continue
		}
		l, ok := t.listeners[id]
		if !ok {
			l = &listener{id: id, wake: make(chan struct{}, 1)}
			t.listeners[id] = l
			ctx, term := t.ctx, t.term
			t.tasks.Go(func() { t.run(ctx, l, term) })
		}
		if probing {
			l.probing.Store(true)
		}
		signal(l.wake)
	}
}

// run tells one voter whenever it is woken. What it tells is a fact of the log at that moment: the entry that the
// machine applied last is committed, so naming it as previous entry and as commit index is safe in any term that this
// node leads; so is any entry before it.
//
// A voter is only told of what it is known to hold. The majority may have an entry before this voter has it: told of that
// too early it would refuse, and learn of the commit with the entry after. So it is told when it has acknowledged.
func (t *teller) run(ctx context.Context, l *listener, term uint64) {
	var told uint64
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.wake:
		}
		probing := l.probing.Swap(false)
		index, indexTerm := t.node.machine.Applied()
		index, indexTerm = t.node.transport.matches.upTo(l.id, term, index, indexTerm, l.wake)
		if index <= told && !probing {
			continue
		}
		req := raft.AppendEntriesRequest{Term: term, PrevLogEntry: index, PrevLogTerm: indexTerm, LeaderCommitIndex: index}
		if err := t.node.transport.probe(l.id, req); err == nil {
			told = index
			continue
		}
		select { // the voter is away: it must not be called in a tight loop
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// wait returns when all calls have ended, after the context of the last term has.
func (t *teller) wait() { t.tasks.Wait() }
