package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// What a connection between nodes is for, told apart by ALPN.
const (
	protocolRaft = "leasehold-raft/1"
	protocolCall = "leasehold-call/1"
)

const (
	// handshakeTimeout bounds a handshake from the first byte to the consumer, on both sides.
	handshakeTimeout = 5 * time.Second
	// maxHandshakes bounds how many strangers are attended to at a time; the others wait in the listener's queue.
	maxHandshakes = 64
)

var errPeersClosed = fmt.Errorf("peer port is closed: %w", net.ErrClosed)

// peerConfig is what the peer port works with. All but Dial are needed.
type peerConfig struct {
	// ID is this node's.
	ID string
	// Certificate names this node by a DNS name or the common name, for client and server use.
	Certificate tls.Certificate
	// Roots are the peers' own certificate authority, not that of the API.
	Roots *x509.CertPool
	// Listener is the peer port.
	Listener net.Listener
	// Dial opens a connection to host:port; nil is TCP.
	Dial func(ctx context.Context, address string) (net.Conn, error)
	// Resolve tells a node's host:port.
	Resolve func(id string) (string, error)
	// Member reports whether a node of this ID belongs to the cluster.
	Member func(id string) bool
	Logger hclog.Logger
}

// peers is the one port on which nodes talk with each other, both for raft and for calls. Each side proves by its
// certificate which member it is.
type peers struct {
	config     peerConfig
	handshakes chan struct{} // a slot for each handshake under way
	raft, call chan peerConn

	closing sync.Once
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// peerConn is an accepted connection and who is at its other end.
type peerConn struct {
	net.Conn
	id string
}

// newPeers starts to accept. Close ends it.
func newPeers(config peerConfig) *peers {
	if config.Dial == nil {
		config.Dial = func(ctx context.Context, address string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", address)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &peers{
		config:     config,
		handshakes: make(chan struct{}, maxHandshakes),
		raft:       make(chan peerConn),
		call:       make(chan peerConn),
		ctx:        ctx,
		cancel:     cancel,
	}
	p.running.Go(p.listen)
	return p
}

// Close closes the port and waits for its goroutines. Connections that were handed out belong to who took them.
func (p *peers) Close() error {
	var err error
	p.closing.Do(func() {
		p.cancel()
		err = p.config.Listener.Close()
		p.running.Wait()
	})
	return err
}

// acceptCall waits for the next connection for calls, and says which member called.
func (p *peers) acceptCall(ctx context.Context) (net.Conn, string, error) {
	select {
	case conn := <-p.call:
		return conn.Conn, conn.id, nil
	case <-ctx.Done():
		return nil, "", ctx.Err()
	case <-p.ctx.Done():
		return nil, "", errPeersClosed
	}
}

// dialCall opens a connection for calls to a member.
func (p *peers) dialCall(ctx context.Context, id string) (net.Conn, error) {
	return p.dial(ctx, id, protocolCall)
}

func (p *peers) dial(ctx context.Context, id, protocol string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	if p.ctx.Err() != nil {
		return nil, errPeersClosed
	}
	if !p.config.Member(id) {
		return nil, fmt.Errorf("dial %s: %w", id, errNotMember)
	}
	address, err := p.config.Resolve(id)
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", id, err)
	}
	raw, err := p.config.Dial(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", id, err)
	}
	if err := tune(raw); err != nil {
		return nil, errors.Join(fmt.Errorf("dial %s: %w", id, err), raw.Close())
	}
	conn := tls.Client(raw, p.clientTLS(id, protocol))
	if err := conn.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("dial %s at %s: %w", id, address, err), raw.Close())
	}
	return conn, nil
}

// listen accepts until Close.
func (p *peers) listen() {
	for {
		select {
		case p.handshakes <- struct{}{}:
		case <-p.ctx.Done():
			return
		}
		raw, err := p.config.Listener.Accept()
		if err != nil {
			<-p.handshakes
			if p.ctx.Err() != nil {
				return
			}
			p.config.Logger.Error("accept peer connection", "error", err)
			select {
			case <-time.After(100 * time.Millisecond): // such as too many open files: passes, but not at once
			case <-p.ctx.Done():
				return
			}
			continue
		}
		p.running.Go(func() {
			defer func() { <-p.handshakes }()
			if err := p.welcome(raw); err != nil {
				_ = raw.Close()
				if p.ctx.Err() == nil {
					p.config.Logger.Warn("refused peer connection", "from", raw.RemoteAddr(), "error", err)
				}
			}
		})
	}
}

// welcome brings one connection through its handshake to whom it is for.
func (p *peers) welcome(raw net.Conn) error {
	ctx, cancel := context.WithTimeout(p.ctx, handshakeTimeout)
	defer cancel()
	if err := tune(raw); err != nil {
		return err
	}
	conn := tls.Server(raw, p.serverTLS())
	if err := conn.HandshakeContext(ctx); err != nil {
		return err
	}
	state := conn.ConnectionState()
	id, err := p.identify(state)
	if err != nil {
		return err
	}
	consumer := p.call
	if state.NegotiatedProtocol == protocolRaft {
		consumer = p.raft
	}
	select {
	case consumer <- peerConn{conn, id}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("nobody takes %s connections: %w", state.NegotiatedProtocol, ctx.Err())
	}
}
