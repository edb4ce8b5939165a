package cluster

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"github.com/leasehold/leasehold/fsm"
)

var (
	errNoLeader  = errors.New("no leader is known")
	errNotLeader = errors.New("this node is not a leader that is ready")
)

// Node is one member of the cluster.
type Node struct {
	config    Config
	logger    hclog.Logger
	machine   *fsm.Machine
	transport *transport
	stores    *stores
	watchdog  *watchdog

	leaders   *leaders
	proposer  *proposer
	committer *committer
	teller    *teller
	links     *links
	server    *server
	barriers  gather // read barriers of this node's callers
	rounds    gather // read rounds of the leader, for itself and for its followers
	readiness *readiness
	snapshots *snapshots
	forming   forming

	raft  atomic.Pointer[raft.Raft] // nil until this node may take part
	term  atomic.Pointer[term]      // nil while this node is not a leader that is ready
	empty atomic.Bool               // the data directory belongs to no cluster yet

	// ctx ends when the node stops; tasks are all goroutines that end with it.
	ctx   context.Context
	stop  context.CancelFunc
	tasks sync.WaitGroup
	// takesPart is the one goroutine that starts Raft and makes this node a leader. It ends before Raft is stopped.
	takesPart sync.WaitGroup

	closing sync.Once
	closed  chan struct{}
	failure error // of closing, set before closed
}

// core returns the Raft instance. It is nil until this node may take part in its cluster.
func (n *Node) core() *raft.Raft { return n.raft.Load() }

// WaitRevision returns once this node's state has reached revision, or with the context's error.
func (n *Node) WaitRevision(ctx context.Context, revision uint64) error {
	return n.machine.WaitRevision(ctx, revision)
}

// State returns this node's newest state, which may lag behind the cluster's.
func (n *Node) State() *fsm.State { return n.machine.State() }

// History returns this node's window of changes.
func (n *Node) History() *fsm.History { return n.machine.History() }

// route brings encoded commands to the leader of a view. done is called once, maybe before route returns.
func (n *Node) route(to view, commands []byte, count int, done func([]fsm.Result, error)) {
	if to.leader != n.config.ID {
		n.links.propose(to.leader, commands, count, done)
		return
	}
	n.committer.submit(group{payload: commands, count: count, done: func(_ uint64, results []fsm.Result, err error) {
		done(results, err)
	}})
}

func isNotApplied(err error) bool { return errors.Is(err, errNotApplied) }
