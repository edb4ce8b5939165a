package cluster_test

import (
	"context"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/cluster"
	"github.com/leasehold/leasehold/cluster/clustertest"
	"github.com/leasehold/leasehold/fsm"
)

// deafness keeps answers from whoever reads through it.
type deafness struct {
	mu    sync.Mutex // guards until
	until chan struct{}
}

func (d *deafness) begin() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.until = make(chan struct{})
}

func (d *deafness) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	close(d.until)
	d.until = nil
}

type deafConn struct {
	net.Conn
	deafness *deafness
	closing  sync.Once
	closed   chan struct{}
}

func (c *deafConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.deafness.mu.Lock()
	until := c.deafness.until
	c.deafness.mu.Unlock()
	if until == nil {
		return n, err
	}
	select {
	case <-until:
	case <-c.closed:
	}
	return 0, net.ErrClosed // what was answered is never heard
}

func (c *deafConn) Close() error {
	c.closing.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// answer is what a proposal came to.
type answer struct {
	result fsm.Result
	err    error
}

// unheard lets a follower propose; the leader commits and answers, the answer is lost and the leader dies. The follower
// sends the command again to the next leader. It returns the answer to that, the follower, and the revision that the leader
// gave.
func unheard(t *testing.T) (second answer, node *cluster.Node, first uint64) {
	deaf := make(map[string]*deafness)
	for _, id := range []string{"node-1", "node-2", "node-3"} {
		deaf[id] = &deafness{}
	}
	c := clustertest.New(t, 3, clustertest.Options{Change: func(config *cluster.Config) {
		dial := config.Dial
		config.Dial = func(ctx context.Context, id string) (net.Conn, error) {
			conn, err := dial(ctx, id)
			if err != nil {
				return nil, err
			}
			return &deafConn{Conn: conn, deafness: deaf[config.ID], closed: make(chan struct{})}, nil
		}
	}})
	ctx := patient(t)
	leader, follower := c.Leader(), c.Follower()
	node = c.Node(follower)
	_, err := node.Propose(ctx, create("before", "value")) // opens session and connection
	require.NoError(t, err)

	deaf[node.Status().ID].begin()
	answered := make(chan answer, 1)
	go func() {
		result, err := node.Propose(ctx, create("once", "value"))
		answered <- answer{result, err}
	}()
	c.Eventually(func() error {
		object := c.Node(leader).State().Get(key("once"))
		if object == nil {
			return context.DeadlineExceeded
		}
		first = object.Revision
		return nil
	})
	c.Crash(leader)
	deaf[node.Status().ID].end()
	return <-answered, node, first
}

func TestProposalSentTwiceAcrossAChangeOfLeaderAppliesOnce(t *testing.T) {
	second, node, revision := unheard(t)
	require.NoError(t, second.err)
	require.Equal(t, fsm.Result{Outcome: fsm.Accepted, Revision: revision}, second.result, "a second application would find that it exists")
	require.Equal(t, revision, node.State().Get(key("once")).Revision)
}
