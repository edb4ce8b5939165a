package cluster

import (
	"net"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Hashicorp/raft issue 695, made certain. A candidate waits for votes of its term; a heartbeat of the next term's leader
// comes, and after it a late vote. Handled on the connection's goroutine, the heartbeat changes the term and the late
// vote makes the candidate a second leader of the *next* term. The library's in-memory transport never calls the
// heartbeat handler, so this goes over its network transport.
func TestALateVoteMakesNoSecondLeaderOfTheTermThatAHeartbeatBrought(t *testing.T) {
	b, c := listenLoopback(t), listenLoopback(t)
	inner := loopbackTransport(t)
	candidate := newTransport(inner, raft.ServerID(inner.LocalAddr()), hclog.NewNullLogger())

	config := trioConfig(candidate.self)
	store := raft.NewInmemStore()
	servers := raft.Configuration{Servers: []raft.Server{
		{ID: candidate.self, Address: candidate.LocalAddr()},
		{ID: raft.ServerID(b.LocalAddr()), Address: b.LocalAddr()},
		{ID: raft.ServerID(c.LocalAddr()), Address: c.LocalAddr()},
	}}
	require.NoError(t, raft.BootstrapCluster(config, store, store, raft.NewInmemSnapshotStore(), candidate, servers))
	node, err := raft.NewRaft(config, &ledger{}, store, store, raft.NewInmemSnapshotStore(), candidate)
	require.NoError(t, err)
	defer func() { require.NoError(t, node.Shutdown().Error()) }()

	// Both peers grant the pre-vote; c never answers the vote, b's vote is held.
	votes := make(chan raft.RPC, 100)
	appends := make(chan *raft.AppendEntriesRequest, 100)
	stop := make(chan struct{})
	defer close(stop)
	for _, peer := range []*raft.NetworkTransport{b, c} {
		go func() {
			for {
				select {
				case rpc := <-peer.Consumer():
					switch request := rpc.Command.(type) {
					case *raft.RequestPreVoteRequest:
						rpc.Respond(&raft.RequestPreVoteResponse{Term: request.Term, Granted: true}, nil)
					case *raft.RequestVoteRequest:
						if peer == b {
							votes <- rpc
						}
					case *raft.AppendEntriesRequest:
						appends <- request
						rpc.Respond(&raft.AppendEntriesResponse{Term: request.Term}, nil)
					}
				case <-stop:
					return
				}
			}
		}()
	}
	vote := <-votes
	term := vote.Command.(*raft.RequestVoteRequest).Term
	leads := term + 1 // c is elected in the next term, by b and itself

	heartbeat := &raft.AppendEntriesRequest{
		RPCHeader: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(c.LocalAddr()), Addr: []byte(c.LocalAddr())},
		Term:      leads,
	}
	beat := func() {
		var resp raft.AppendEntriesResponse
		require.NoError(t, c.AppendEntries(candidate.self, inner.LocalAddr(), heartbeat, &resp))
		require.Equal(t, leads, resp.Term)
	}
	beat()
	vote.Respond(&raft.RequestVoteResponse{Term: term, Granted: true}, nil)
	for range 20 {
		time.Sleep(10 * time.Millisecond)
		if node.State() == raft.Follower {
			beat()
		}
		select {
		case request := <-appends:
			require.FailNow(t, "a second leader", "term %d has leader %s and now also %s", leads, c.LocalAddr(), request.Addr)
		default:
		}
	}
	assert.Equal(t, raft.Follower, node.State())
	assert.Equal(t, leads, node.CurrentTerm())
}

// listenLoopback is the library's network transport on an ephemeral port.
func listenLoopback(t *testing.T) *raft.NetworkTransport {
	transport := loopbackTransport(t)
	t.Cleanup(func() { require.NoError(t, transport.Close()) })
	return transport
}

func loopbackTransport(t *testing.T) *raft.NetworkTransport {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return newNetworkTransport(plainLayer{listener}, hclog.NewNullLogger())
}

// plainLayer is TCP without TLS, for tests.
type plainLayer struct{ net.Listener }

func (plainLayer) Dial(address raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	return net.DialTimeout("tcp", string(address), timeout)
}
