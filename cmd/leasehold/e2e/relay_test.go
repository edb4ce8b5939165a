package e2e

import (
	"errors"

	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// relay passes TCP connections on to one address. While it is cut it passes nothing, and says nothing of that to either
// end: connections stay, new ones are taken, and what was sent meanwhile arrives after healing, as over a network.
type relay struct {
	listener net.Listener
	to       string
	running  sync.WaitGroup

	mu     sync.Mutex // guards what follows
	open   chan struct{}
	conns  map[net.Conn]struct{}
	closed bool
}

func startRelay(t *testing.T, to string) *relay {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := &relay{listener: listener, to: to, open: make(chan struct{}), conns: map[net.Conn]struct{}{}}
	close(r.open)
	r.running.Go(r.accept)
	t.Cleanup(r.close)
	return r
}

func (r *relay) address() string { return r.listener.Addr().String() }

func (r *relay) accept() {
	for {
		from, err := r.listener.Accept()
		if err != nil {
			return
		}
		r.running.Go(func() { r.pass(from) })
	}
}

func (r *relay) pass(from net.Conn) {
	if !r.own(from) {
		return
	}
	defer r.disown(from)
	<-r.passable()
	to, err := net.Dial("tcp", r.to)
	if err != nil || !r.own(to) {
		return
	}
	defer r.disown(to)
	var pumps sync.WaitGroup
	pump := func(out, in net.Conn) {
		defer func() { errors.Join(out.Close(), in.Close()) }()
		buffer := make([]byte, 64<<10)
		for {
			n, err := in.Read(buffer)
			<-r.passable()
			if _, failed := out.Write(buffer[:n]); failed != nil || err != nil {
				return
			}
		}
	}
	pumps.Go(func() { pump(to, from) })
	pumps.Go(func() { pump(from, to) })
	pumps.Wait()
}

// passable returns a channel that is closed when something may pass.
func (r *relay) passable() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.open
}

func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open = make(chan struct{})
}

// heal is called after cut.
func (r *relay) heal() {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.open)
}

func (r *relay) own(conn net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		conn.Close()
		return false
	}
	r.conns[conn] = struct{}{}
	return true
}

func (r *relay) disown(conn net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	conn.Close()
	delete(r.conns, conn)
}

func (r *relay) close() {
	r.mu.Lock()
	r.closed = true
	select {
	case <-r.open:
	default:
		close(r.open)
	}
	for conn := range r.conns {
		conn.Close()
	}
	r.mu.Unlock()
	r.listener.Close()
	r.running.Wait()
}
