package cluster_test

import (
	"context"
	"errors"
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

// A leader is cut off while the answer to one of its heartbeats is on its way. Another leader is elected and commits.
// Then the old leader is asked, and the answer arrives: raft.VerifyLeader takes it as proof of leadership, though it was
// given before the other election. A read barrier must not.
func TestBarrierDoesNotCountAnswersToEarlierRequests(t *testing.T) {
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
	barrier := make(chan error, 1)
	go func() { barrier <- old.Barrier(short) }()
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
	require.ErrorIs(t, <-barrier, cluster.ErrUnavailable)
	require.Empty(t, stored(old, "new"), "what the barrier kept from being read")
	t.Log("raft.VerifyLeader: nil; Barrier: refused")
}
