package cluster

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/leasehold/leasehold/fsm"
)

// server answers the calls of this node's peers.
type server struct {
	node *Node

	mu     sync.Mutex // guards what follows
	conns  map[net.Conn]struct{}
	closed bool
	tasks  sync.WaitGroup
}

func newServer(n *Node) *server { return &server{node: n, conns: make(map[net.Conn]struct{})} }

// run accepts connections until the listener is closed.
func (s *server) run() {
	for {
		conn, err := s.node.config.Listener.Accept()
		if err != nil {
			if s.node.ctx.Err() != nil {
				return
			}
			s.node.logger.Warn("cannot accept calls of peers", "error", err)
			select {
			case <-s.node.ctx.Done():
				return
			case <-time.After(100 * time.Millisecond):
			}
			continue
		}
		s.mu.Lock()
		if s.closed {
			_ = conn.Close()
		} else {
			s.conns[conn] = struct{}{}
			s.tasks.Go(func() { s.serve(conn) })
		}
		s.mu.Unlock()
	}
}

func (s *server) serve(conn net.Conn) {
	defer func() {
		_ = conn.Close()
		s.mu.Lock()
		delete(s.conns, conn)
		s.mu.Unlock()
	}()
	reader := bufio.NewReaderSize(conn, 64<<10)
	peer, err := s.greet(conn, reader)
	if err != nil {
		s.node.logger.Debug("refused a connection", "from", conn.RemoteAddr(), "error", err)
		return
	}
	w := newWire()
	defer w.close()
	s.tasks.Go(func() {
		_ = w.run(conn)
		_ = conn.Close()
	})
	for {
		f, err := readFrame(reader)
		if err != nil {
			return
		}
		s.answer(w, peer, f)
	}
}

// greet answers the hello of whoever opened the connection, and returns the caller's ID.
func (s *server) greet(conn net.Conn, reader *bufio.Reader) (string, error) {
	_ = conn.SetDeadline(time.Now().Add(handshakeTimeout))
	f, err := readFrame(reader)
	if err != nil {
		return "", err
	}
	var theirs hello
	if f.kind != kindHello {
		return "", fmt.Errorf("frame of kind %d before a hello", f.kind)
	}
	if err := json.Unmarshal(f.payload, &theirs); err != nil {
		return "", err
	}
	own := hello{Version: helloVersion, ID: s.node.config.ID, Incarnation: s.node.config.Incarnation, Peer: theirs.ID}
	var refusal error
	switch {
	case theirs.Version != helloVersion:
		refusal = fmt.Errorf("protocol version %d is not known here", theirs.Version)
	case named(conn) != "" && named(conn) != theirs.ID:
		refusal = fmt.Errorf("the certificate names %s", named(conn))
	case theirs.Peer != s.node.config.ID:
		refusal = fmt.Errorf("this is node %s, not %s", s.node.config.ID, theirs.Peer)
	default:
		refusal = s.node.check(theirs.ID, theirs.Incarnation)
	}
	if refusal != nil {
		own.Refusal, own.Wiped = refusal.Error(), errors.Is(refusal, ErrWiped)
	}
	if err := writeFrame(conn, frame{kind: kindHello, payload: encodeJSON(own)}); err != nil {
		return "", err
	}
	if refusal != nil {
		return "", refusal
	}
	return theirs.ID, conn.SetDeadline(time.Time{})
}

// named returns whom the connection itself proves to be at the other end, "" if it proves nothing.
func named(conn net.Conn) string {
	if proof, ok := conn.(interface{ PeerID() string }); ok {
		return proof.PeerID()
	}
	return ""
}

// answer serves one call. It does not block: what takes time replies later.
func (s *server) answer(w *wire, peer string, f frame) {
	switch f.kind {
	case kindIdentity:
		_ = w.send(f.call, kindReply, encodeJSON(s.node.identity(peer)))
	case kindPropose:
		s.propose(w, f)
	case kindReadIndex:
		s.node.rounds.join(func(index uint64, err error) {
			if err != nil {
				_ = w.send(f.call, kindNotApplied, []byte(err.Error()))
				return
			}
			_ = w.send(f.call, kindReply, binary.BigEndian.AppendUint64(nil, index))
		})
	case kindTransfer:
		s.tasks.Go(func() { s.transfer(w, f) })
	default:
		_ = w.send(f.call, kindNotApplied, fmt.Appendf(nil, "call of kind %d is not known here", f.kind))
	}
}

// propose hands a peer's commands to the log. Each is decoded first: one that this node does not know must not get
// into a log that this node has to apply.
func (s *server) propose(w *wire, f frame) {
	if len(f.payload) < 4 {
		_ = w.send(f.call, kindNotApplied, []byte("no commands"))
		return
	}
	count, commands := int(binary.BigEndian.Uint32(f.payload)), f.payload[4:]
	if err := checkCommands(commands, count); err != nil {
		s.node.logger.Error("refused commands of a peer", "error", err)
		_ = w.send(f.call, kindNotApplied, []byte(err.Error()))
		return
	}
	s.node.committer.submit(group{payload: commands, count: count, done: func(_ uint64, results []fsm.Result, err error) {
		switch {
		case err == nil:
			_ = w.send(f.call, kindReply, appendResults(make([]byte, 0, 6*len(results)), results))
		case isNotApplied(err):
			_ = w.send(f.call, kindNotApplied, []byte(err.Error()))
		default:
			_ = w.send(f.call, kindUncertain, []byte(err.Error()))
		}
	}})
}

// transfer makes this node resign. Raft takes one or two election timeouts at most.
func (s *server) transfer(w *wire, f frame) {
	ctx, cancel := context.WithTimeout(s.node.ctx, 4*s.node.config.ElectionTimeout)
	defer cancel()
	err := s.node.transfer(ctx, string(f.payload))
	switch {
	case err == nil:
		_ = w.send(f.call, kindReply)
	case isNotApplied(err):
		_ = w.send(f.call, kindNotApplied, []byte(err.Error()))
	default:
		_ = w.send(f.call, kindUncertain, []byte(err.Error()))
	}
}

// checkCommands returns nil if data is exactly count commands that this node knows.
func checkCommands(data []byte, count int) error {
	for range count {
		_, rest, err := fsm.DecodeCommand(data)
		if err != nil {
			return err
		}
		data = rest
	}
	if len(data) > 0 {
		return fmt.Errorf("%d bytes after %d commands: %w", len(data), count, fsm.ErrEncoding)
	}
	return nil
}

// close ends all connections and waits for those who serve them.
func (s *server) close() {
	s.mu.Lock()
	s.closed = true
	for conn := range s.conns {
		_ = conn.Close()
	}
	s.mu.Unlock()
	s.tasks.Wait()
}
