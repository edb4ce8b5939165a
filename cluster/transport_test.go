package cluster

import (
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A muted node sends nothing more, on pipelines that were open before neither.
func TestAMutedLeaderIsReplacedAlthoughItsPipelinesAreOpen(t *testing.T) {
	inTrio(t, nil, func(c *trio) {
		leader := c.leader()
		leader.apply(t, "pipelined")
		time.Sleep(time.Second)
		leader.transport.mute(true)
		next := c.leader(c.others(leader)...)
		next.apply(t, "after")
		require.NotSame(t, leader, next)
		leader.transport.mute(false)
		eventually(t, 30*time.Second, func() bool { return len(leader.machine.all()) == 2 })
	})
}

func TestMutedCallsFailAtOnceAndWriteNothing(t *testing.T) {
	_, wire := raft.NewInmemTransport("a")
	_, peer := raft.NewInmemTransport("b")
	wire.Connect("b", peer)
	transport := newTransport(wire, "a", hclog.NewNullLogger())
	defer transport.Close()
	pipeline, err := transport.AppendEntriesPipeline("b", "b")
	require.NoError(t, err)
	defer pipeline.Close()

	transport.mute(true)
	append := raft.AppendEntriesRequest{Term: 1, PrevLogEntry: 1, PrevLogTerm: 1}
	_, err = pipeline.AppendEntries(&append, &raft.AppendEntriesResponse{})
	assert.ErrorIs(t, err, errMuted)
	_, err = transport.AppendEntriesPipeline("b", "b")
	assert.ErrorIs(t, err, errMuted)
	assert.ErrorIs(t, transport.AppendEntries("b", "b", &append, &raft.AppendEntriesResponse{}), errMuted)
	assert.ErrorIs(t, transport.AppendEntries("b", "b", &raft.AppendEntriesRequest{Term: 1}, &raft.AppendEntriesResponse{}), errMuted)
	assert.ErrorIs(t, transport.probe("b", append), errMuted)
	assert.ErrorIs(t, transport.RequestVote("b", "b", &raft.RequestVoteRequest{}, &raft.RequestVoteResponse{}), errMuted)
	assert.ErrorIs(t, transport.RequestPreVote("b", "b", &raft.RequestPreVoteRequest{}, &raft.RequestPreVoteResponse{}), errMuted)
	assert.ErrorIs(t, transport.TimeoutNow("b", "b", &raft.TimeoutNowRequest{}, &raft.TimeoutNowResponse{}), errMuted)
	assert.ErrorIs(t, transport.InstallSnapshot("b", "b", &raft.InstallSnapshotRequest{}, &raft.InstallSnapshotResponse{}, nil), errMuted)
	_, err = mutedReader{transport, nil}.Read(nil)
	assert.ErrorIs(t, err, errMuted)
	select {
	case rpc := <-peer.Consumer():
		assert.Fail(t, "something was written", "%T", rpc.Command)
	default:
	}
}

// Without RequestPreVote on the wrapper raft switches pre-vote off, and a node that was cut off deposes the leader when it
// comes back with a term that it raised alone.
func TestANodeThatWasCutOffDoesNotRaiseTheTerm(t *testing.T) {
	inTrio(t, nil, func(c *trio) {
		leader := c.leader()
		term := leader.raft.CurrentTerm()
		away := c.others(leader)[0]
		c.cut(away.id)
		eventually(t, 30*time.Second, func() bool { return away.raft.State() == raft.Candidate })
		time.Sleep(30 * time.Second)
		assert.Equal(t, term, away.raft.CurrentTerm())
		c.connect(away.id)
		leader.apply(t, "x")
		eventually(t, 30*time.Second, func() bool { return len(away.machine.all()) == 1 })
		assert.Equal(t, term, leader.raft.CurrentTerm())
		assert.Equal(t, raft.Leader, leader.raft.State())
	})
}
