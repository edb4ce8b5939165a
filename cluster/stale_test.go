package cluster

import (
	"net"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// answering is a peer that answers every call, on a given address, until the function it returns is called.
func answering(t *testing.T, address string) (at raft.ServerAddress, stop func()) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	require.NoError(t, err)
	peer := newNetworkTransport(plainLayer{listener}, hclog.NewNullLogger())
	done := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		for {
			select {
			case rpc := <-peer.Consumer():
				switch rpc.Command.(type) {
				case *raft.RequestPreVoteRequest:
					rpc.Respond(&raft.RequestPreVoteResponse{Granted: true}, nil)
				case *raft.RequestVoteRequest:
					rpc.Respond(&raft.RequestVoteResponse{Granted: true}, nil)
				case *raft.TimeoutNowRequest:
					rpc.Respond(&raft.TimeoutNowResponse{}, nil)
				}
			case <-done:
				return
			}
		}
	})
	return peer.LocalAddr(), func() {
		peer.CloseStreams() // as the end of a process does
		require.NoError(t, peer.Close())
		close(done)
		running.Wait()
	}
}

func TestVotesAndHandOversReachAPeerThatHasRestarted(t *testing.T) {
	own := listenLoopback(t)
	transport := newTransport(own, raft.ServerID(own.LocalAddr()), hclog.NewNullLogger())
	address, stop := answering(t, "127.0.0.1:0")
	id := raft.ServerID(address)
	header := raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(own.LocalAddr()), Addr: []byte(own.LocalAddr())}
	for name, call := range map[string]func() error{
		"pre-vote": func() error {
			return transport.RequestPreVote(id, address, &raft.RequestPreVoteRequest{RPCHeader: header}, &raft.RequestPreVoteResponse{})
		},
		"vote": func() error {
			return transport.RequestVote(id, address, &raft.RequestVoteRequest{RPCHeader: header}, &raft.RequestVoteResponse{})
		},
		"hand-over": func() error {
			return transport.TimeoutNow(id, address, &raft.TimeoutNowRequest{RPCHeader: header}, &raft.TimeoutNowResponse{})
		},
	} {
		// As many calls at a time leave as many connections to be kept.
		var calling sync.WaitGroup
		for range 2 * pooledConnections {
			calling.Go(func() { assert.NoError(t, call(), name) })
		}
		calling.Wait()
		stop()
		_, stop = answering(t, string(address))
		assert.NoError(t, call(), "%s after the peer's restart", name)
	}
	stop()
}
