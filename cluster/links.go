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

// links holds this node's connections to its peers: one to each, opened when first needed, with many calls in flight.
type links struct {
	node *Node

	mu     sync.Mutex // guards what follows
	peers  map[string]*link
	closed bool
	tasks  sync.WaitGroup
}

// link is one connection from its dialing to its end, and the calls that wait on it.
type link struct {
	peer string
	wire *wire

	mu    sync.Mutex // guards what follows
	calls map[uint64]func(frame, error)
	last  uint64
	over  bool
}

func newLinks(n *Node) *links { return &links{node: n, peers: make(map[string]*link)} }

// call sends a question to a peer. done is called once with the reply, or with an error that wraps errNotApplied when
// the question surely never left this node or was refused, and errUncertain otherwise. It must not block.
func (l *links) call(peer string, kind byte, done func(frame, error), payload ...[]byte) {
	k, err := l.to(peer)
	if err != nil {
		done(frame{}, fmt.Errorf("%w: %w", errNotApplied, err))
		return
	}
	k.mu.Lock()
	if k.over {
		k.mu.Unlock()
		done(frame{}, fmt.Errorf("%w: %w", errNotApplied, errCut))
		return
	}
	k.last++
	call := k.last
	k.calls[call] = done
	err = k.wire.send(call, kind, payload...)
	if err != nil {
		delete(k.calls, call)
	}
	k.mu.Unlock()
	if err != nil {
		done(frame{}, fmt.Errorf("%w: %w", errNotApplied, err))
	}
}

// ask is call for one who can wait. A peer that has not answered when ctx ends counts as hung.
func (l *links) ask(ctx context.Context, peer string, kind byte, payload ...[]byte) ([]byte, error) {
	type answer struct {
		payload []byte
		err     error
	}
	answered := make(chan answer, 1)
	l.call(peer, kind, func(f frame, err error) { answered <- answer{f.payload, err} }, payload...)
	select {
	case a := <-answered:
		return a.payload, a.err
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			l.hung(peer)
		}
		return nil, fmt.Errorf("%s has not answered: %w", peer, ctx.Err())
	}
}

// propose sends commands to the leader.
func (l *links) propose(leader string, commands []byte, count int, done func([]fsm.Result, error)) {
	var head [4]byte
	binary.BigEndian.PutUint32(head[:], uint32(count))
	l.call(leader, kindPropose, func(f frame, err error) {
		if err != nil {
			done(nil, err)
			return
		}
		results, err := decodeResults(f.payload, count)
		done(results, err)
	}, head[:], commands)
}

// readIndex asks the leader for a read index.
func (l *links) readIndex(ctx context.Context, leader string) (uint64, error) {
	payload, err := l.ask(ctx, leader, kindReadIndex)
	if err != nil {
		return 0, err
	}
	if len(payload) != 8 {
		return 0, fmt.Errorf("read index of %d bytes", len(payload))
	}
	return binary.BigEndian.Uint64(payload), nil
}

// transfer asks the leader to make another voter lead.
func (l *links) transfer(ctx context.Context, leader, to string) error {
	_, err := l.ask(ctx, leader, kindTransfer, []byte(to))
	return err
}

// identity asks a peer who it is.
func (l *links) identity(ctx context.Context, peer string) (identity, error) {
	payload, err := l.ask(ctx, peer, kindIdentity)
	if err != nil {
		return identity{}, err
	}
	var id identity
	return id, json.Unmarshal(payload, &id)
}

// to returns the link to a peer, beginning to open one if there is none.
func (l *links) to(peer string) (*link, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, ErrClosed
	}
	k := l.peers[peer]
	if k == nil {
		k = &link{peer: peer, wire: newWire(), calls: make(map[uint64]func(frame, error))}
		l.peers[peer] = k
		l.tasks.Go(func() { l.run(k) })
	}
	return k, nil
}

// run opens the connection, serves it until it ends, and fails the calls that are left.
func (l *links) run(k *link) {
	err := l.serve(k)
	l.mu.Lock()
	if l.peers[k.peer] == k {
		delete(l.peers, k.peer)
	}
	l.mu.Unlock()
	k.wire.close()
	left := k.wire.left()

	k.mu.Lock()
	k.over = true
	calls := k.calls
	k.calls = nil
	k.mu.Unlock()
	for call, done := range calls {
		if call > left {
			done(frame{}, fmt.Errorf("call %s: %w: %w", k.peer, errNotApplied, err))
		} else {
			done(frame{}, fmt.Errorf("call %s: %w: %w", k.peer, errUncertain, err))
		}
	}
}

func (l *links) serve(k *link) error {
	ctx, cancel := context.WithTimeout(l.node.ctx, handshakeTimeout)
	defer cancel()
	conn, err := l.node.config.Dial(ctx, k.peer)
	if err != nil {
		return err
	}
	// Until the wire has the connection, the end of the node closes it.
	unhook := context.AfterFunc(l.node.ctx, func() { _ = conn.Close() })
	defer unhook()
	defer func() { _ = conn.Close() }()
	reader := bufio.NewReaderSize(conn, 64<<10)
	if err := l.greet(conn, reader, k.peer); err != nil {
		return err
	}
	l.tasks.Go(func() {
		_ = k.wire.run(conn)
		_ = conn.Close()
	})
	for {
		f, err := readFrame(reader)
		if err != nil {
			return fmt.Errorf("%w: %w", errCut, err)
		}
		k.mu.Lock()
		done := k.calls[f.call]
		delete(k.calls, f.call)
		k.mu.Unlock()
		if done == nil {
			continue
		}
		switch f.kind {
		case kindReply:
			done(f, nil)
		case kindNotApplied:
			done(frame{}, fmt.Errorf("%s: %w: %s", k.peer, errNotApplied, f.payload))
		default:
			done(frame{}, fmt.Errorf("%s: %w: %s", k.peer, errUncertain, f.payload))
		}
	}
}

// greet exchanges hellos on a connection that this node opened.
func (l *links) greet(conn net.Conn, reader *bufio.Reader, peer string) error {
	_ = conn.SetDeadline(time.Now().Add(handshakeTimeout))
	own := hello{Version: helloVersion, ID: l.node.config.ID, Incarnation: l.node.config.Incarnation, Peer: peer}
	if err := writeFrame(conn, frame{kind: kindHello, payload: encodeJSON(own)}); err != nil {
		return err
	}
	f, err := readFrame(reader)
	if err != nil {
		return err
	}
	var theirs hello
	if f.kind != kindHello {
		return fmt.Errorf("%s answered a hello with kind %d", peer, f.kind)
	}
	if err := json.Unmarshal(f.payload, &theirs); err != nil {
		return err
	}
	switch {
	case theirs.Wiped:
		return fmt.Errorf("%s refused the connection: %w", peer, ErrWiped)
	case theirs.Refusal != "":
		return fmt.Errorf("%s refused the connection: %s", peer, theirs.Refusal)
	case theirs.ID != peer:
		return fmt.Errorf("%s answered under the ID %s", peer, theirs.ID)
	}
	if err := l.node.check(theirs.ID, theirs.Incarnation); err != nil {
		return err
	}
	return conn.SetDeadline(time.Time{})
}

// hung closes the link to a peer that does not answer, so that the next call opens another.
func (l *links) hung(peer string) {
	l.mu.Lock()
	k := l.peers[peer]
	delete(l.peers, peer)
	l.mu.Unlock()
	if k != nil {
		k.wire.close()
	}
}

// close ends all links and waits for them. Calls in flight fail.
func (l *links) close() {
	l.mu.Lock()
	l.closed = true
	for _, k := range l.peers {
		k.wire.close()
	}
	l.mu.Unlock()
	l.tasks.Wait()
}

func appendResults(dst []byte, results []fsm.Result) []byte {
	for _, result := range results {
		dst = append(dst, byte(result.Outcome))
		dst = binary.AppendUvarint(dst, result.Revision)
	}
	return dst
}

func decodeResults(data []byte, count int) ([]fsm.Result, error) {
	results := make([]fsm.Result, count)
	for i := range results {
		if len(data) < 2 {
			return nil, fmt.Errorf("%w: %w", errUncertain, errResults)
		}
		revision, n := binary.Uvarint(data[1:])
		if n <= 0 {
			return nil, fmt.Errorf("%w: %w", errUncertain, errResults)
		}
		results[i] = fsm.Result{Outcome: fsm.Outcome(data[0]), Revision: revision}
		data = data[1+n:]
	}
	return results, nil
}

var errResults = errors.New("reply has fewer results than commands were sent")
