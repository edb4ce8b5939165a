package sim

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hashicorp/raft"

	"github.com/leasehold/leasehold/jepsen/nemesis"
)

var (
	errReset   = fmt.Errorf("simulated network: %w", syscall.ECONNRESET)
	errRefused = fmt.Errorf("simulated network: %w", syscall.ECONNREFUSED)
)

// network is what lies between places: the nodes, and nemesis.Client for all clients together.
type network struct {
	links map[[2]string]*link // from, to; never changes

	mu        sync.Mutex // guards what follows
	listeners map[string]*listener
	conns     map[*conn]struct{}
	gone      map[*process]bool // they open no connection any more, and none is opened to them
}

// newNetwork joins all places, with base as the time that a packet takes.
func newNetwork(places []string, base time.Duration, seed uint64) *network {
	n := &network{links: make(map[[2]string]*link), listeners: make(map[string]*listener),
		conns: make(map[*conn]struct{}), gone: make(map[*process]bool)}
	for i, from := range places {
		for j, to := range places {
			n.links[[2]string{from, to}] = newLink(base, seed+uint64(i*len(places)+j))
		}
	}
	return n
}

func (n *network) link(from, to string) *link { return n.links[[2]string{from, to}] }

// set puts a condition in force. Connections feel a reset at once, both ways.
func (n *network) set(from, to string, c nemesis.Condition) error {
	l := n.link(from, to)
	if l == nil {
		return fmt.Errorf("there is no link from %q to %q", from, to)
	}
	l.set(c)
	if c.Reset {
		n.each(func(c *conn) bool { return c.joins(from, to) }, func(c *conn) { c.fail(errReset) })
	}
	return nil
}

// freeze makes a place stand still to all others, or go on.
func (n *network) freeze(place string, by int) {
	for ends, l := range n.links {
		if ends[0] == place || ends[1] == place {
			l.freeze(by)
		}
	}
}

// hangUp ends all connections of a life, as the kernel does for a process that is gone.
func (n *network) hangUp(of *process) {
	n.bar(of)
	n.each(func(c *conn) bool { return c.endAt(of) != nil }, func(c *conn) { c.endAt(of).close(errReset) })
}

// silence makes all connections of a life stand still: its machine is gone and can say nothing any more.
func (n *network) silence(of *process) {
	n.bar(of)
	n.mu.Lock() // or a connection that is just being closed would never be told of again
	defer n.mu.Unlock()
	for c := range n.conns {
		if c.endAt(of) != nil {
			c.in.silence()
			c.out.silence()
		}
	}
}

// answer makes the machine of a life that went in silence say that it knows nothing of the connections that it had.
func (n *network) answer(of *process) {
	n.each(func(c *conn) bool { return c.endAt(of) != nil }, func(c *conn) {
		end := c.endAt(of)
		end.out.answer()
		if end.closed.Load() {
			c.forget()
		}
	})
}

// bar makes no connection of a process come to be any more.
func (n *network) bar(of *process) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.gone[of] = true
}

// forget lets go of a process that has ended.
func (n *network) forget(of *process) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.gone, of)
}

// each does something to all connections that match, without holding mu.
func (n *network) each(matches func(*conn) bool, do func(*conn)) {
	n.mu.Lock()
	var found []*conn
	for c := range n.conns {
		if matches(c) {
			found = append(found, c)
		}
	}
	n.mu.Unlock()
	for _, c := range found {
		do(c)
	}
}

// listen opens a service of a node. A later one takes the place of an earlier one.
func (n *network) listen(of *process, service string) *listener {
	l := &listener{network: n, life: of, name: of.id + "/" + service, incoming: make(chan *conn), closed: make(chan struct{})}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.listeners[l.name] = l
	return l
}

// dial connects a node to a service of another, which takes a way to there and back.
func (n *network) dial(ctx context.Context, from *process, to, service string) (net.Conn, error) {
	there, back := n.link(from.id, to), n.link(to, from.id)
	if there == nil {
		return nil, fmt.Errorf("dial %s: no such place", to)
	}
	for _, way := range []*link{there, back} {
		if err := way.pass(ctx); err != nil {
			return nil, fmt.Errorf("dial %s: %w", to, err)
		}
	}
	if there.resets() || back.resets() {
		return nil, fmt.Errorf("dial %s: %w", to, errRefused)
	}
	near := &conn{network: n, life: from, service: service, in: newStream(back), out: newStream(there)}
	far := &conn{network: n, service: service, in: near.out, out: near.in}
	near.far, far.far = far, near
	n.mu.Lock()
	l := n.listeners[to+"/"+service]
	if l == nil || n.gone[l.life] || n.gone[from] {
		n.mu.Unlock()
		return nil, fmt.Errorf("dial %s: %w", to, errRefused)
	}
	far.life = l.life
	n.conns[near] = struct{}{}
	n.mu.Unlock()
	select {
	case l.incoming <- far:
		return near, nil
	case <-l.closed:
		_ = near.Close()
		return nil, fmt.Errorf("dial %s: %w", to, errRefused)
	case <-ctx.Done():
		_ = near.Close()
		return nil, fmt.Errorf("dial %s: %w", to, ctx.Err())
	}
}

// listener is an open service.
type listener struct {
	network  *network
	life     *process
	name     string
	incoming chan *conn
	closing  sync.Once
	closed   chan struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.incoming:
		return c, nil
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
	return nil
}

// Addr is the node's ID: that is what Raft shall know it by.
func (l *listener) Addr() net.Addr { return address(l.life.id) }

type address string

func (address) Network() string  { return "simulated" }
func (a address) String() string { return string(a) }

// layer is the service on which a node's Raft talks with its peers.
type layer struct{ *listener }

func (l layer) Dial(to raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(l.life.ctx, timeout)
	defer cancel()
	return l.network.dial(ctx, l.life, string(to), serviceRaft)
}

// Close also ends the connections: Raft's transport leaves them open.
func (l layer) Close() error {
	l.network.bar(l.life)
	err := l.listener.Close()
	l.network.each(func(c *conn) bool { return c.service == serviceRaft && c.endAt(l.life) != nil },
		func(c *conn) { _ = c.endAt(l.life).Close() })
	return err
}

// The services of a node.
const (
	serviceRaft  = "raft"
	serviceCalls = "calls"
)

// conn is one end of a connection. The network knows the dialer's.
type conn struct {
	network *network
	life    *process // whose end it is
	far     *conn    // the other end
	service string
	in, out *stream
	closing sync.Once
	closed  atomic.Bool
}

// endAt returns the end of a life, nil if neither is.
func (c *conn) endAt(of *process) *conn {
	switch of {
	case c.life:
		return c
	case c.far.life:
		return c.far
	}
	return nil
}

func (c *conn) joins(a, b string) bool {
	return c.life.id == a && c.far.life.id == b || c.life.id == b && c.far.life.id == a
}

func (c *conn) Read(p []byte) (int, error)  { return c.in.Read(p) }
func (c *conn) Write(p []byte) (int, error) { return c.out.Write(p) }

// Close ends this end; the other learns of it in its time.
func (c *conn) Close() error {
	c.close(io.EOF)
	return nil
}

// close is Close where the other end is told something else than that all is said.
func (c *conn) close(reason error) {
	c.closing.Do(func() {
		c.closed.Store(true)
		c.out.end(reason)
		c.in.shutDown()
		c.network.mu.Lock()
		defer c.network.mu.Unlock()
		if !c.out.gone() {
			delete(c.network.conns, c)
			delete(c.network.conns, c.far)
		}
	})
}

// fail ends both ends at once.
func (c *conn) fail(reason error) {
	c.in.fail(reason)
	c.out.fail(reason)
	c.forget()
}

func (c *conn) forget() {
	c.network.mu.Lock()
	defer c.network.mu.Unlock()
	delete(c.network.conns, c)
	delete(c.network.conns, c.far)
}

func (c *conn) LocalAddr() net.Addr  { return address(c.life.id) }
func (c *conn) RemoteAddr() net.Addr { return address(c.far.life.id) }

func (c *conn) SetDeadline(t time.Time) error {
	c.in.setReadDeadline(t)
	c.out.setWriteDeadline(t)
	return nil
}

func (c *conn) SetReadDeadline(t time.Time) error  { c.in.setReadDeadline(t); return nil }
func (c *conn) SetWriteDeadline(t time.Time) error { c.out.setWriteDeadline(t); return nil }
