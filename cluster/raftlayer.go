package cluster

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

const (
	// networkTimeout bounds one call of raft's between nodes, beyond what its size adds. It is also how long a heartbeat
	// into a dead link hangs before the next one tries anew.
	networkTimeout = 2 * time.Second
	// pooledConnections is how many idle connections to a peer are kept: heartbeat, replication, probe, vote.
	pooledConnections = 4
)

// newNetworkTransport is raft's own transport on a stream layer, to be wrapped by newTransport.
func newNetworkTransport(layer raft.StreamLayer, logger hclog.Logger) *raft.NetworkTransport {
	return raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream:                  layer,
		MaxPool:                 pooledConnections,
		Timeout:                 networkTimeout,
		Logger:                  hangUpLogger{logger},
		MsgpackUseNewTimeFormat: true,
	})
}

// hangUpLogger keeps errors that are none out of sight: raft's transport logs one for each connection that this node
// itself closes while it stops.
type hangUpLogger struct{ hclog.Logger }

func (l hangUpLogger) Error(message string, args ...any) {
	for _, arg := range args {
		if err, ok := arg.(error); ok && errors.Is(err, net.ErrClosed) {
			l.Debug(message, args...)
			return
		}
	}
	l.Logger.Error(message, args...)
}

// raftLayer is the part of the peer port that is raft's. Its address is this node's ID, and it dials IDs. It owns its
// connections: raft's transport leaves them open when it is closed, each with a goroutine that reads from it.
type raftLayer struct {
	peers *peers

	mu     sync.Mutex // guards conns
	conns  map[*pacedConn]struct{}
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
}

// raftLayer returns raft's part of the port. The port must outlive it.
func (p *peers) raftLayer() *raftLayer {
	ctx, cancel := context.WithCancel(p.ctx)
	return &raftLayer{peers: p, conns: make(map[*pacedConn]struct{}), ctx: ctx, cancel: cancel}
}

func (l *raftLayer) Accept() (net.Conn, error) {
	select {
	case conn := <-l.peers.raft:
		return l.own(conn.Conn)
	case <-l.ctx.Done():
		return nil, errPeersClosed
	}
}

func (l *raftLayer) Dial(id raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(l.ctx, timeout)
	defer cancel()
	conn, err := l.peers.dial(ctx, string(id), protocolRaft)
	if err != nil {
		return nil, err
	}
	return l.own(conn)
}

func (l *raftLayer) own(conn net.Conn) (net.Conn, error) {
	paced := &pacedConn{Conn: conn}
	paced.closed = func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.conns, paced)
	}
	l.mu.Lock()
	l.conns[paced] = struct{}{}
	l.mu.Unlock()
	if l.ctx.Err() != nil {
		_ = paced.Close()
		return nil, errPeersClosed
	}
	return paced, nil
}

// Close ends raft's connections; calls go on.
func (l *raftLayer) Close() error {
	l.cancel()
	l.mu.Lock()
	conns := make([]*pacedConn, 0, len(l.conns))
	for conn := range l.conns {
		conns = append(conns, conn)
	}
	l.mu.Unlock()
	for _, conn := range conns {
		_ = conn.Close()
	}
	return nil
}

func (l *raftLayer) Addr() net.Addr { return nodeAddr(l.peers.config.ID) }

// nodeAddr is a node's ID as an address.
type nodeAddr string

func (nodeAddr) Network() string  { return "leasehold" }
func (a nodeAddr) String() string { return string(a) }
