package testbed

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/leasehold/leasehold/jepsen/nemesis"
)

// wires is the network of modes Root and UserNS. Each node has a network namespace, and in it one interface whose packets
// the harness reads and passes on to the interface of the place they are for, or does not. The kernel's TCP is at both ends,
// so that what is lost is sent again and what is late is late, as anywhere. Clients are where the harness is.
type wires struct {
	nodes   []string
	links   *links
	places  map[string]*place // nodes, and nemesis.Client
	at      map[netip.Addr]*place
	running sync.WaitGroup
	closed  chan struct{}

	mu    sync.Mutex // guards lines
	lines map[direction]*line
}

// place is an end of the network.
type place struct {
	name     string
	address  netip.Addr
	tunnel   *os.File
	launcher *launcher // nil for nemesis.Client
}

const (
	interfaceName = "jepsen"
	largestPacket = 9000 // bytes
	clientHost    = 254
	apiPort       = 7443
	peerPort      = 7543

	// clientPatience is how long a client's connection may go unacknowledged before it counts as broken.
	clientPatience = 5 * time.Second
	// insidePatience bounds how long a node's thread waits for the node to accept the harness's own question.
	insidePatience = time.Second
)

func newWires(nodes []string) (network, error) {
	w := &wires{nodes: nodes, links: newLinks(), places: map[string]*place{}, at: map[netip.Addr]*place{}, closed: make(chan struct{}),
		lines: map[direction]*line{}}
	if err := w.lay(); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

func (w *wires) lay() error {
	add := func(name string, host byte) *place {
		p := &place{name: name, address: netip.AddrFrom4([4]byte{10, 231, 0, host})}
		w.places[name], w.at[p.address] = p, p
		return p
	}
	client := add(nemesis.Client, clientHost)
	var err error
	if client.tunnel, err = openTunnel(interfaceName, client.address, largestPacket); err != nil {
		return err
	}
	for i, node := range w.nodes {
		p := add(node, byte(i+1))
		p.launcher, err = startLauncher(func() (err error) {
			if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
				return fmt.Errorf("make a network namespace: %w", err)
			}
			if err := raise("lo", nil, 0); err != nil {
				return err
			}
			p.tunnel, err = openTunnel(interfaceName, p.address, largestPacket)
			return err
		})
		if err != nil {
			return err
		}
	}
	for _, p := range w.places {
		w.running.Go(func() { w.carry(p) })
	}
	return nil
}

// carry passes on what comes out of a place, until its tunnel is closed.
func (w *wires) carry(from *place) {
	buffer := make([]byte, largestPacket)
	for {
		n, err := from.tunnel.Read(buffer)
		if err != nil {
			return
		}
		p := packet(buffer[:n])
		address, ok := p.destination()
		if to := w.at[address]; ok && to != nil && to != from {
			w.pass(from, to, p)
		}
	}
}

// pass does with a packet what its direction's condition says. Writing to a tunnel fails only when it is closed or the
// place has no memory for the packet, which then is lost like any other.
func (w *wires) pass(from, to *place, p packet) {
	d := direction{from.name, to.name}
	c, _ := w.links.at(d)
	switch {
	case c.Drop:
	case c.Reset && p.reset() != nil:
		_, _ = from.tunnel.Write(p.reset())
	case c.Loss > 0 && rand.Float64() < c.Loss:
	case c.Delay > 0 || c.Jitter > 0:
		w.line(d, to).add(p, time.Now().Add(delayOf(c)))
	default:
		_, _ = to.tunnel.Write(p)
	}
}

// line returns what delays a direction.
func (w *wires) line(d direction, to *place) *line {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.lines[d]
	if l == nil {
		l = newLine()
		w.lines[d] = l
		w.running.Go(func() { l.run(w.closed, func(p packet) { _, _ = to.tunnel.Write(p) }) })
	}
	return l
}

func (w *wires) supports(nemesis.Capability) error { return nil }

func (w *wires) addresses(node string) addresses {
	at := func(node string, port uint16) string {
		return netip.AddrPortFrom(w.places[node].address, port).String()
	}
	a := addresses{api: at(node, apiPort), peer: at(node, peerPort), public: at(node, apiPort), peers: map[string]string{}}
	for _, other := range w.nodes {
		a.peers[other] = at(other, peerPort)
	}
	return a
}

func (w *wires) launcher(node string) *launcher       { return w.places[node].launcher }
func (w *wires) set(d direction, c nemesis.Condition) { w.links.set(d, c) }
func (w *wires) up(string) error                      { return nil }
func (w *wires) down(string)                          {}

func (w *wires) dial(ctx context.Context, node string) (net.Conn, error) {
	dialer := net.Dialer{Control: func(_, _ string, c syscall.RawConn) (err error) {
		failed := c.Control(func(fd uintptr) {
			err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(clientPatience.Milliseconds()))
		})
		return errors.Join(err, failed)
	}}
	return dialer.DialContext(ctx, "tcp4", w.addresses(node).public)
}

// inside dials on the node's own thread, where the node is on this side of every link.
func (w *wires) inside(ctx context.Context, node string) (conn net.Conn, err error) {
	dialer := net.Dialer{Timeout: insidePatience}
	err = w.places[node].launcher.do(func() (err error) {
		conn, err = dialer.DialContext(ctx, "tcp4", w.addresses(node).api)
		return err
	})
	return conn, err
}

func (w *wires) close() error {
	close(w.closed)
	for _, p := range w.places {
		if p.tunnel != nil {
			p.tunnel.Close()
		}
	}
	w.running.Wait()
	for _, p := range w.places {
		if p.launcher != nil {
			p.launcher.close()
		}
	}
	return nil
}
