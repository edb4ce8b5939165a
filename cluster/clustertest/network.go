package clustertest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

var errCut = errors.New("the network is cut here")

// Network connects nodes by their IDs, over loopback or over pipes in memory.
type Network struct {
	pipes bool

	mu        sync.Mutex // guards what follows
	listeners map[string]*listener
	conns     map[*conn]struct{}
	cut       map[[2]string]bool // from, to
}

// NewNetwork returns a network over loopback, or, where no socket may be, over net.Pipe.
func NewNetwork(pipes bool) *Network {
	return &Network{
		pipes:     pipes,
		listeners: make(map[string]*listener),
		conns:     make(map[*conn]struct{}),
		cut:       make(map[[2]string]bool),
	}
}

// conn is the dialer's end of a connection.
type conn struct {
	net.Conn
	network  *Network
	from, to string
	service  string
}

func (c *conn) Close() error {
	c.network.mu.Lock()
	delete(c.network.conns, c)
	c.network.mu.Unlock()
	return c.Conn.Close()
}

// Dial connects from one node to a service of another.
func (n *Network) Dial(ctx context.Context, from, to, service string) (net.Conn, error) {
	n.mu.Lock()
	far := n.listeners[to+"/"+service]
	cut := n.cut[[2]string{from, to}] || n.cut[[2]string{to, from}]
	n.mu.Unlock()
	if cut {
		return nil, fmt.Errorf("dial %s from %s: %w", to, from, errCut)
	}
	if far == nil {
		return nil, fmt.Errorf("dial %s: nobody listens", to)
	}
	inner, err := far.dial(ctx)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: inner, network: n, from: from, to: to, service: service}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cut[[2]string{from, to}] || n.cut[[2]string{to, from}] {
		_ = inner.Close()
		return nil, fmt.Errorf("dial %s from %s: %w", to, from, errCut)
	}
	n.conns[c] = struct{}{}
	return c, nil
}

// Cut ends all connections between two nodes and refuses new ones.
func (n *Network) Cut(a, b string) {
	n.mu.Lock()
	n.cut[[2]string{a, b}] = true
	n.mu.Unlock()
	n.end(func(c *conn) bool { return c.from == a && c.to == b || c.from == b && c.to == a })
}

// end closes the connections that match.
func (n *Network) end(matches func(*conn) bool) {
	n.mu.Lock()
	var ended []*conn
	for c := range n.conns {
		if matches(c) {
			ended = append(ended, c)
		}
	}
	n.mu.Unlock()
	for _, c := range ended {
		_ = c.Close()
	}
}

// Heal undoes every Cut.
func (n *Network) Heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.cut)
}

// Listen opens a service of a node.
func (n *Network) Listen(id, service string) (net.Listener, error) {
	l := &listener{network: n, id: id, name: id + "/" + service, pipes: make(chan net.Conn), closed: make(chan struct{})}
	if !n.pipes {
		inner, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		l.inner = inner
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.listeners[l.name] = l
	return l, nil
}

// Streams opens a node's service for Raft's transport.
func (n *Network) Streams(id string) (raft.StreamLayer, error) {
	l, err := n.Listen(id, "raft")
	if err != nil {
		return nil, err
	}
	return &streams{Listener: l, network: n, id: id}, nil
}

type streams struct {
	net.Listener
	network *Network
	id      string
}

func (s *streams) Dial(address raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return s.network.Dial(ctx, s.id, string(address), "raft")
}

// Close also ends the connections: Raft's transport leaves them open.
func (s *streams) Close() error {
	err := s.Listener.Close()
	s.network.end(func(c *conn) bool { return c.service == "raft" && (c.from == s.id || c.to == s.id) })
	return err
}

type listener struct {
	network *Network
	id      string
	name    string
	inner   net.Listener // nil on pipes
	pipes   chan net.Conn
	closing sync.Once
	closed  chan struct{}
}

func (l *listener) dial(ctx context.Context) (net.Conn, error) {
	if l.inner != nil {
		var dialer net.Dialer
		return dialer.DialContext(ctx, "tcp", l.inner.Addr().String())
	}
	near, far := net.Pipe()
	select {
	case l.pipes <- far:
		return near, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *listener) Accept() (net.Conn, error) {
	if l.inner != nil {
		return l.inner.Accept()
	}
	select {
	case conn := <-l.pipes:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.closing.Do(func() {
		close(l.closed)
		l.network.mu.Lock()
		defer l.network.mu.Unlock()
		if l.network.listeners[l.name] == l {
			delete(l.network.listeners, l.name)
		}
	})
	if l.inner != nil {
		return l.inner.Close()
	}
	return nil
}

// Addr is the node's ID: that is what Raft shall know it by.
func (l *listener) Addr() net.Addr { return address(l.id) }

type address string

func (a address) Network() string { return "clustertest" }
func (a address) String() string  { return string(a) }

// join undoes a Cut of two nodes.
func (n *Network) join(a, b string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.cut, [2]string{a, b})
	delete(n.cut, [2]string{b, a})
}
