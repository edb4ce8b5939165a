package cluster

import (
	"errors"
	"fmt"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// voter is a raft node of its own goroutines that others ask for votes.
type voter struct {
	t    *testing.T
	raft *raft.Raft
	wire *raft.InmemTransport
}

// newVoter starts node v on a stable store. Its log ends at index 3 of term 2, or where the given one ends.
func newVoter(t *testing.T, stable raft.StableStore) *voter {
	_, wire := raft.NewInmemTransport("v")
	log := raft.NewInmemStore()
	servers := raft.Configuration{Servers: []raft.Server{{ID: "v", Address: "v"}, {ID: "a", Address: "a"}, {ID: "b", Address: "b"}}}
	require.NoError(t, log.StoreLogs([]*raft.Log{
		{Index: 1, Term: 1, Type: raft.LogConfiguration, Data: raft.EncodeConfiguration(servers)},
		{Index: 2, Term: 2, Type: raft.LogNoop},
		{Index: 3, Term: 2, Type: raft.LogNoop},
	}))
	config := trioConfig("v")
	config.HeartbeatTimeout, config.ElectionTimeout, config.LeaderLeaseTimeout = 1e12, 1e12, 1e12 // it never stands itself
	node, err := raft.NewRaft(config, &ledger{}, log, stable, raft.NewInmemSnapshotStore(), wire)
	require.NoError(t, err)
	return &voter{t, node, wire}
}

// asks reports whether v gives its vote in a term to the candidate behind a transport.
func (v *voter) asks(candidate *transport, localAddr raft.ServerAddress, term, lastIndex, lastTerm uint64) bool {
	// The header as raft makes it.
	header := raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(candidate.self),
		Addr: candidate.EncodePeer(candidate.self, localAddr)}
	request := &raft.RequestVoteRequest{RPCHeader: header, Term: term, LastLogIndex: lastIndex, LastLogTerm: lastTerm}
	var resp raft.RequestVoteResponse
	require.NoError(v.t, candidate.RequestVote("v", "v", request, &resp))
	return resp.Granted
}

func (v *voter) candidate(id raft.ServerID) *transport {
	_, wire := raft.NewInmemTransport(raft.ServerAddress(id))
	wire.Connect("v", v.wire)
	return newTransport(wire, id, hclog.NewNullLogger())
}

func (v *voter) stop() { require.NoError(v.t, v.raft.Shutdown().Error()) }

// Raft compares votes by the candidate's address: with real addresses node b, now at a's former address, would get the
// vote that a has.
func TestAVoteDoesNotFollowAnAddressToAnotherNode(t *testing.T) {
	v := newVoter(t, newVoteStore(raft.NewInmemStore()))
	defer v.stop()
	require.True(t, v.asks(v.candidate("a"), "10.0.0.1:7000", 5, 3, 2))
	assert.True(t, v.asks(v.candidate("a"), "10.0.0.2:7000", 5, 3, 2), "asked again")
	assert.False(t, v.asks(v.candidate("b"), "10.0.0.1:7000", 5, 3, 2), "a second vote in one term")
}

// A node that dies between the two writes of raft's vote would give, once restarted, its vote in the new term to the
// candidate of its former vote, whose log it does not look at.
func TestACrashWhileVotingGivesNoVoteUnchecked(t *testing.T) {
	for survive := range 8 {
		t.Run(fmt.Sprintf("%d writes survive", survive), func(t *testing.T) {
			disk := raft.NewInmemStore()
			v := newVoter(t, newVoteStore(disk))
			require.True(t, v.asks(v.candidate("a"), "a", 4, 3, 2))
			v.stop()

			v = newVoter(t, newVoteStore(&cutStable{disk, survive}))
			v.asks(v.candidate("b"), "b", 5, 3, 2)
			v.stop()

			v = newVoter(t, newVoteStore(disk))
			defer v.stop()
			assert.False(t, v.asks(v.candidate("a"), "a", 5, 1, 1), "a's log lacks what v has")
		})
	}
}

// cutStable loses all writes after the first few, like a process that died.
type cutStable struct {
	*raft.InmemStore
	survive int
}

func (s *cutStable) Set(key, value []byte) error {
	if s.survive--; s.survive < 0 {
		return nil
	}
	return s.InmemStore.Set(key, value)
}

func (s *cutStable) SetUint64(key []byte, value uint64) error {
	if s.survive--; s.survive < 0 {
		return nil
	}
	return s.InmemStore.SetUint64(key, value)
}

func TestAVoteIsOneValue(t *testing.T) {
	disk := raft.NewInmemStore()
	votes := newVoteStore(disk)
	term, candidate := []byte(keyVoteTerm), []byte(keyVoteCandidate)

	_, err := votes.GetUint64(term)
	require.EqualError(t, err, "not found")
	_, err = votes.Get(candidate)
	require.EqualError(t, err, "not found")

	require.NoError(t, votes.SetUint64(term, 7))
	_, err = votes.GetUint64(term)
	require.EqualError(t, err, "not found", "half a vote is none")
	require.NoError(t, votes.Set(candidate, []byte("a")))
	require.NoError(t, votes.SetUint64(term, 8))
	for _, store := range []*voteStore{votes, newVoteStore(disk)} {
		gotTerm, err := store.GetUint64(term)
		require.NoError(t, err)
		gotCandidate, err := store.Get(candidate)
		require.NoError(t, err)
		assert.EqualValues(t, 7, gotTerm)
		assert.Equal(t, "a", string(gotCandidate))
	}

	require.NoError(t, votes.SetUint64([]byte("CurrentTerm"), 9))
	current, err := disk.GetUint64([]byte("CurrentTerm"))
	require.NoError(t, err)
	assert.EqualValues(t, 9, current)
}

func TestAVoteThatFailsIsForgotten(t *testing.T) {
	full := errors.New("no space left on device")
	votes := newVoteStore(failingStable{raft.NewInmemStore(), full})
	require.NoError(t, votes.SetUint64([]byte(keyVoteTerm), 7))
	require.ErrorIs(t, votes.Set([]byte(keyVoteCandidate), []byte("a")), full)
	require.ErrorContains(t, votes.Set([]byte(keyVoteCandidate), []byte("b")), "candidate without a term")
}

type failingStable struct {
	*raft.InmemStore
	err error
}

func (s failingStable) Set(_, _ []byte) error { return s.err }
