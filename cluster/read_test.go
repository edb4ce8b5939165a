package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/cluster"
	"github.com/leasehold/leasehold/cluster/clustertest"
)

// lateAnswers is a transport that can hold back the answer to one heartbeat.
type lateAnswers struct {
	*raft.NetworkTransport

	mu      sync.Mutex // guards what follows
	peer    raft.ServerID
	held    chan struct{} // closed when an answer is held
	release chan struct{}
}

// hold makes the next answered heartbeat to peer wait for the returned release; held is closed when one does.
func (l *lateAnswers) hold(peer raft.ServerID) (held, release chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.peer, l.held, l.release = peer, make(chan struct{}), make(chan struct{})
	return l.held, l.release
}

func (l *lateAnswers) AppendEntries(id raft.ServerID, target raft.ServerAddress, req *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	err := l.NetworkTransport.AppendEntries(id, target, req, resp)
	if err != nil || req.PrevLogEntry != 0 || len(req.Entries) != 0 {
		return err
	}
	l.mu.Lock()
	var release chan struct{}
	if l.peer == id {
		l.peer, release = "", l.release
		close(l.held)
	}
	l.mu.Unlock()
	if release != nil {
		<-release
	}
	return err
}

// deposed lets a leader be asked that does not know of its successor: it is cut off while the answer to one of its
// heartbeats is on its way, another leader is elected and commits, the old one is asked, and then the answer arrives. It
// returns the old leader and what its barrier said. raft.VerifyLeader takes that answer as proof of leadership, though it
// was given before the other election.
func deposed(t *testing.T) (old *cluster.Node, barrier error) {
	transports := make(map[string]*lateAnswers)
	c := clustertest.New(t, 3, clustertest.Options{Change: func(config *cluster.Config) {
		config.ElectionTimeout = 20 * time.Second // the old leader's lease shall not end before the test
		late := &lateAnswers{NetworkTransport: config.Transport.(*raft.NetworkTransport)}
		config.Transport, transports[config.ID] = late, late
	}})
	ctx := patient(t)
	c.Eventually(func() error { return c.Node(2).Campaign("node-1") })
	require.Equal(t, 1, c.Leader())
	old, next := c.Node(1), c.Node(3)
	require.NoError(t, old.Barrier(ctx))

	held, release := transports["node-1"].hold("node-2")
	<-held
	c.Isolate(1)
	c.Eventually(func() error {
		if s := next.Status(); s.Role == "leader" {
			return nil
		}
		if err := c.Node(2).Campaign("node-3"); err != nil {
			return err
		}
		return errors.New("not elected yet")
	})
	_, err := next.Propose(ctx, create("new", "value"))
	require.NoError(t, err)
	require.Equal(t, "leader", old.Status().Role)
	require.Empty(t, stored(old, "new"))

	short, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	answered := make(chan error, 1)
	go func() { answered <- old.Barrier(short) }()
	c.Eventually(func() error {
		if !old.RoundRunning() {
			return errors.New("no round runs")
		}
		return nil
	})
	verify := old.Raft().VerifyLeader()
	for range 64 { // the main loop picks what it serves at random: by now it has begun to verify
		require.Error(t, old.Raft().LeadershipTransferToServer("nobody", "nobody").Error())
	}
	close(release)
	require.NoError(t, verify.Error(), "this is the library's hole; without it the test shows nothing")
	return old, <-answered
}

// discreet is a transport that keeps from peers what a test does not want them to hear.
type discreet struct {
	*raft.NetworkTransport

	mu     sync.Mutex    // guards what follows
	commit uint64        // the highest commit index that is told
	speak  chan struct{} // until it is closed heartbeats alone get out; nil is not to wait
}

func (d *discreet) tellNoMoreThan(commit uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.commit = commit
}

func (d *discreet) beSilent() (speak func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	until := make(chan struct{})
	d.speak = until
	return sync.OnceFunc(func() { close(until) })
}

func (d *discreet) AppendEntriesPipeline(raft.ServerID, raft.ServerAddress) (raft.AppendPipeline, error) {
	return nil, raft.ErrPipelineReplicationNotSupported
}

func (d *discreet) AppendEntries(id raft.ServerID, target raft.ServerAddress, req *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	d.mu.Lock()
	commit, speak := d.commit, d.speak
	d.mu.Unlock()
	if speak != nil && (req.PrevLogEntry != 0 || len(req.Entries) != 0) {
		<-speak
	}
	told := *req
	told.LeaderCommitIndex = min(told.LeaderCommitIndex, commit)
	return d.NetworkTransport.AppendEntries(id, target, &told, resp)
}

// unsure lets a leader be asked before anything of its own term is committed. In its log is what its predecessor
// acknowledged last, but it has not heard that this is committed. It returns the leader, what lets it go on,
// and what its barrier said before that.
func unsure(t *testing.T) (leader *cluster.Node, proceed func(), barrier error) {
	transports := make(map[string]*discreet)
	c := clustertest.New(t, 3, clustertest.Options{Change: func(config *cluster.Config) {
		config.ElectionTimeout = 2 * time.Second // nobody stands but who is told to
		quiet := &discreet{NetworkTransport: config.Transport.(*raft.NetworkTransport), commit: math.MaxUint64}
		config.Transport, transports[config.ID] = quiet, quiet
	}})
	ctx := patient(t)
	c.Eventually(func() error { return c.Node(2).Campaign("node-1") })
	require.Equal(t, 1, c.Leader())
	old, leader := c.Node(1), c.Node(2)
	_, err := old.Propose(ctx, create("before", "value"))
	require.NoError(t, err)
	require.NoError(t, leader.Barrier(ctx))

	transports["node-1"].tellNoMoreThan(old.Summary().CommitIndex)
	_, err = old.Propose(ctx, create("acknowledged", "value"))
	require.NoError(t, err)
	c.Eventually(func() error {
		if held, want := leader.Summary().LastIndex, old.Summary().LastIndex; held < want {
			return fmt.Errorf("node-2 has %d of %d", held, want)
		}
		return nil
	})
	proceed = transports["node-2"].beSilent()
	t.Cleanup(proceed)
	c.Eventually(func() error {
		if leader.Summary().Role == "leader" {
			return nil
		}
		if err := c.Node(3).Campaign("node-2"); err != nil {
			return err
		}
		return errors.New("not elected yet")
	})
	require.Empty(t, stored(leader, "acknowledged"), "it has heard of the commit; then the test shows nothing")

	short, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return leader, proceed, leader.Barrier(short)
}

func TestBarrierDoesNotCountAnswersToEarlierRequests(t *testing.T) {
	old, barrier := deposed(t)
	require.ErrorIs(t, barrier, cluster.ErrUnavailable)
	require.Empty(t, stored(old, "new"), "what the barrier kept from being read")
}

func TestBarrierAwaitsThatALeaderKnowsWhatIsCommitted(t *testing.T) {
	leader, proceed, barrier := unsure(t)
	require.ErrorIs(t, barrier, cluster.ErrUnavailable)
	require.Empty(t, stored(leader, "acknowledged"), "what the barrier kept from being read")
	proceed()
	require.NoError(t, leader.Barrier(patient(t)))
	require.Equal(t, "value", stored(leader, "acknowledged"))
}
