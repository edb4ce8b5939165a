package httpapi

import (
	"context"
	"sync"
	"testing"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/cluster"
	"github.com/leasehold/leasehold/fsm"
)

// oneNode is a store of one node: what is proposed is applied at once. With hold set it plays a node that lags behind:
// its state stays as it was until a barrier, or a wait for a revision, makes it catch up.
type oneNode struct {
	machine *fsm.Machine
	session fsm.SessionID

	mu       sync.Mutex // guards what follows, and applying
	index    uint64
	seq      uint64
	held     *fsm.State // the state shown, nil for the newest
	barriers int        // how many were taken
	notReady error
	fail     error // what Propose answers instead of applying
	apply    bool  // with fail: apply nevertheless
	serving  chan struct{}
}

func newOneNode(t testing.TB) *oneNode {
	n := &oneNode{machine: fsm.New(fsm.Options{TailEvents: 10000, TailBytes: 64 << 20}), serving: make(chan struct{})}
	n.session[0] = 1
	n.index = 1
	entry := fsm.AppendCommand([]byte{fsm.EntryHeader}, &fsm.Command{Op: fsm.OpOpenSession, Session: n.session, Node: "one"})
	n.machine.Apply(&raft.Log{Index: n.index, Term: 1, Type: raft.LogCommand, Data: entry})
	index, _ := n.machine.Applied()
	require.Equal(t, n.index, index)
	return n
}

func (n *oneNode) Propose(_ context.Context, command fsm.Command) (fsm.Result, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.fail != nil && !n.apply {
		return fsm.Result{}, n.fail
	}
	n.index++
	n.seq++
	command.Session, command.Seq, command.Mark = n.session, n.seq, n.seq-1
	entry := fsm.AppendCommand([]byte{fsm.EntryHeader}, &command)
	results := n.machine.Apply(&raft.Log{Index: n.index, Term: 1, Type: raft.LogCommand, Data: entry}).([]fsm.Result)
	if n.fail != nil {
		return fsm.Result{}, n.fail
	}
	return results[0], nil
}

// hold makes the store show the present state from now on.
func (n *oneNode) hold() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.held = n.machine.State()
}

func (n *oneNode) Barrier(context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.notReady != nil {
		return cluster.ErrUnavailable
	}
	n.barriers++
	n.held = nil
	return nil
}

func (n *oneNode) WaitRevision(ctx context.Context, revision uint64) error {
	n.mu.Lock()
	n.held = nil
	n.mu.Unlock()
	return n.machine.WaitRevision(ctx, revision)
}

func (n *oneNode) State() *fsm.State {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.held != nil {
		return n.held
	}
	return n.machine.State()
}

func (n *oneNode) History() *fsm.History { return n.machine.History() }

func (n *oneNode) Ready() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.notReady
}

func (n *oneNode) Serving() <-chan struct{} { return n.serving }
