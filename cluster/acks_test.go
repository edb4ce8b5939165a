package cluster

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAQuorumIsOfVotersInTheTermSinceTheTime(t *testing.T) {
	now := time.Now()
	before, after := now.Add(-time.Nanosecond), now.Add(time.Nanosecond)
	three := []raft.ServerID{"a", "b", "c"}
	for name, test := range map[string]struct {
		voters []raft.ServerID
		acks   map[raft.ServerID]ack
		want   bool
	}{
		"nobody votes":                 {nil, nil, false},
		"self alone":                   {[]raft.ServerID{"a"}, nil, true},
		"self of three":                {three, nil, false},
		"two of three, at the time":    {three, map[raft.ServerID]ack{"b": {7, now}}, true},
		"two of three, after":          {three, map[raft.ServerID]ack{"b": {7, after}}, true},
		"sent before":                  {three, map[raft.ServerID]ack{"b": {7, before}, "c": {7, before}}, false},
		"of an earlier term":           {three, map[raft.ServerID]ack{"b": {6, after}}, false},
		"of a later term":              {three, map[raft.ServerID]ack{"b": {8, after}}, false},
		"of one that does not vote":    {three, map[raft.ServerID]ack{"d": {7, after}}, false},
		"two of four":                  {[]raft.ServerID{"a", "b", "c", "d"}, map[raft.ServerID]ack{"b": {7, after}}, false},
		"self does not vote, one does": {[]raft.ServerID{"b", "c"}, map[raft.ServerID]ack{"b": {7, after}}, false},
		"self does not vote, two do":   {[]raft.ServerID{"b", "c"}, map[raft.ServerID]ack{"b": {7, after}, "c": {7, after}}, true},
	} {
		transport := &transport{acks: acks{newest: test.acks}}
		assert.Equal(t, test.want, transport.quorumSince(7, now, test.voters, "a"), name)
	}
}

func TestOnlySuccessInTheSameTermIsAnAcknowledgement(t *testing.T) {
	now := time.Now()
	for name, test := range map[string]struct {
		resp raft.AppendEntriesResponse
		want bool
	}{
		"success":    {raft.AppendEntriesResponse{Success: true, Term: 7}, true},
		"refusal":    {raft.AppendEntriesResponse{Term: 7}, false},
		"newer term": {raft.AppendEntriesResponse{Success: true, Term: 8}, false},
		"older term": {raft.AppendEntriesResponse{Success: true, Term: 6}, false},
	} {
		transport := &transport{}
		changed := transport.ackChanged()
		transport.acks.note("b", &raft.AppendEntriesRequest{Term: 7}, &test.resp, now)
		assert.Equal(t, test.want, transport.quorumSince(7, now, []raft.ServerID{"a", "b"}, "a"), name)
		assert.Equal(t, test.want, isClosed(changed), name)
	}
}

func TestAnOlderAnswerDoesNotReplaceANewer(t *testing.T) {
	transport := &transport{}
	now := time.Now()
	success := func(term uint64, sent time.Time) {
		transport.acks.note("b", &raft.AppendEntriesRequest{Term: term}, &raft.AppendEntriesResponse{Success: true, Term: term}, sent)
	}
	success(7, now)
	success(7, now.Add(-time.Second))
	success(6, now.Add(time.Second))
	assert.True(t, transport.quorumSince(7, now, []raft.ServerID{"a", "b"}, "a"))
}

// The fault of raft's VerifyLeader: an answer that arrives after a read began, to a request that was sent before.
func TestAnAnswerCountsByWhenItsRequestWasSent(t *testing.T) {
	voters := []raft.ServerID{"a", "b", "c"}
	request := raft.AppendEntriesRequest{Term: 7, PrevLogEntry: 3, PrevLogTerm: 7}
	for name, send := range map[string]func(t *testing.T, transport *transport, done chan<- struct{}){
		"call": func(t *testing.T, transport *transport, done chan<- struct{}) {
			go func() {
				defer close(done)
				assert.NoError(t, transport.AppendEntries("b", "b", &request, &raft.AppendEntriesResponse{}))
			}()
		},
		"probe": func(t *testing.T, transport *transport, done chan<- struct{}) {
			go func() {
				defer close(done)
				assert.NoError(t, transport.probe("b", request))
			}()
		},
		"pipeline": func(t *testing.T, transport *transport, done chan<- struct{}) {
			pipeline, err := transport.AppendEntriesPipeline("b", "b")
			require.NoError(t, err)
			go func() {
				defer close(done)
				_, err := pipeline.AppendEntries(&request, &raft.AppendEntriesResponse{})
				assert.NoError(t, err)
				<-pipeline.Consumer()
				assert.NoError(t, pipeline.Close())
			}()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, wire := raft.NewInmemTransport("a")
				_, peer := raft.NewInmemTransport("b")
				wire.Connect("b", peer)
				transport := newTransport(wire, "a", hclog.NewNullLogger())
				defer transport.Close()

				sent := time.Now()
				done := make(chan struct{})
				send(t, transport, done)
				rpc := <-peer.Consumer()
				time.Sleep(10 * time.Millisecond)
				reads := time.Now()
				rpc.Respond(&raft.AppendEntriesResponse{Term: 7, Success: true}, nil)
				<-done
				assert.False(t, transport.quorumSince(7, reads, voters, "a"), "sent before the read")
				assert.True(t, transport.quorumSince(7, sent, voters, "a"))
			})
		})
	}
}

func TestAProbeTellsWhyItFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, wire := raft.NewInmemTransport("a")
		_, peer := raft.NewInmemTransport("b")
		wire.Connect("b", peer)
		transport := newTransport(wire, "a", hclog.NewNullLogger())
		defer transport.Close()
		answer := func(resp raft.AppendEntriesResponse) {
			rpc := <-peer.Consumer()
			assert.Equal(t, "a", string(rpc.Command.(*raft.AppendEntriesRequest).Addr))
			rpc.Respond(&resp, nil)
		}
		request := raft.AppendEntriesRequest{Term: 7, PrevLogEntry: 3, PrevLogTerm: 7, LeaderCommitIndex: 3}
		go answer(raft.AppendEntriesResponse{Term: 8})
		require.ErrorIs(t, transport.probe("b", request), errStaleTerm)
		go answer(raft.AppendEntriesResponse{Term: 7})
		require.ErrorIs(t, transport.probe("b", request), errRefused)
		go answer(raft.AppendEntriesResponse{Term: 7, Success: true})
		require.NoError(t, transport.probe("b", request))
		require.Error(t, transport.probe("nobody", request))
	})
}

func TestAProbeTellsAFollowerTheCommitIndex(t *testing.T) {
	inTrio(t, func(config *raft.Config) { config.CommitTimeout = time.Hour }, func(c *trio) {
		leader := c.leader()
		follower := c.others(leader)[0]
		leader.apply(t, "x")
		term, index := leader.raft.CurrentTerm(), leader.raft.LastIndex()
		eventually(t, time.Second, func() bool { // the entry itself may be under way
			return leader.transport.probe(follower.id, raft.AppendEntriesRequest{
				Term: term, PrevLogEntry: index, PrevLogTerm: term, LeaderCommitIndex: index,
			}) == nil
		})
		eventually(t, time.Second, func() bool { return len(follower.machine.all()) == 1 })
	})
}

func isClosed(channel <-chan struct{}) bool {
	select {
	case <-channel:
		return true
	default:
		return false
	}
}
