package cluster

import (
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestARequestCarriesNoMoreThanItsBytes(t *testing.T) {
	mebibyte := &raft.Log{Data: make([]byte, 1<<20)}
	twenty := &raft.Log{Data: make([]byte, 20<<20)}
	for name, test := range map[string]struct {
		entries []*raft.Log
		want    int
	}{
		"none":                 {nil, 0},
		"few":                  {[]*raft.Log{mebibyte, mebibyte}, 2},
		"sixteen fit":          {many(mebibyte, 16), 16},
		"64 do not":            {many(mebibyte, 64), 16},
		"one too large is let": {[]*raft.Log{twenty, mebibyte}, 1},
		"one too large waits":  {[]*raft.Log{mebibyte, twenty}, 1},
	} {
		request := raft.AppendEntriesRequest{PrevLogEntry: 100, Entries: test.entries, LeaderCommitIndex: 1000}
		trim(&request)
		assert.Len(t, request.Entries, test.want, name)
		assert.EqualValues(t, 100+test.want, request.LeaderCommitIndex, name)
	}
}

func many(entry *raft.Log, n int) []*raft.Log {
	entries := make([]*raft.Log, n)
	for i := range entries {
		entries[i] = entry
	}
	return entries
}

// Raft goes on after the entries that a trimmed request kept, by calls and by pipeline.
func TestAFollowerCatchesUpOverTrimmedRequests(t *testing.T) {
	inTrio(t, nil, func(c *trio) {
		leader := c.leader()
		away := c.others(leader)[0]
		c.cut(away.id)
		large := string(make([]byte, 3<<20))
		for range 20 {
			leader.apply(t, large)
		}
		c.connect(away.id)
		eventually(t, 60e9, func() bool { return len(away.machine.all()) == 20 })
	})
}

// A follower whose log goes on with another leader's entries must not commit those because this leader is further than
// its request.
func TestAFollowerCommitsNoEntryThatTheLeaderDidNotCheck(t *testing.T) {
	_, wire := raft.NewInmemTransport("a")
	_, peer := raft.NewInmemTransport("b")
	wire.Connect("b", peer)
	leader := newTransport(wire, "a", hclog.NewNullLogger())
	defer leader.Close()

	store := raft.NewInmemStore()
	config := trioConfig("b")
	servers := raft.Configuration{Servers: []raft.Server{{ID: "a", Address: "a"}, {ID: "b", Address: "b"}}}
	require.NoError(t, raft.BootstrapCluster(config, store, store, raft.NewInmemSnapshotStore(), peer, servers))
	require.NoError(t, store.StoreLogs([]*raft.Log{
		{Index: 2, Term: 1, Data: []byte("shared")},
		{Index: 3, Term: 2, Data: []byte("of a leader that was deposed")},
	}))
	machine := &ledger{}
	follower, err := raft.NewRaft(config, machine, store, store, raft.NewInmemSnapshotStore(), peer)
	require.NoError(t, err)
	defer func() { require.NoError(t, follower.Shutdown().Error()) }()

	header := raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte("a"), Addr: []byte("a")}
	var resp raft.AppendEntriesResponse
	require.NoError(t, leader.AppendEntries("b", "b", &raft.AppendEntriesRequest{
		RPCHeader: header, Term: 3, PrevLogEntry: 2, PrevLogTerm: 1, LeaderCommitIndex: 9,
	}, &resp))
	require.True(t, resp.Success)
	assert.EqualValues(t, 2, follower.CommitIndex())
}
