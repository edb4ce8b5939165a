package testbed

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/leasehold/leasehold/jepsen/nemesis"
)

// passage is one connection that passes through the harness: a stream each way, under the condition of its direction.
//
// A direction that drops delivers nothing, and takes no more than the buffers on the way hold. What was sent meanwhile
// arrives after healing, as TCP sees to over a real network; so does the news that an end has closed.
type passage struct {
	links   *links
	forward direction // of the side that dialed
	ctx     context.Context
	cancel  context.CancelFunc

	mu   sync.Mutex // guards what follows
	ends []net.Conn
	over bool
}

func newPassage(l *links, forward direction, near net.Conn) *passage {
	p := &passage{links: l, forward: forward, ends: []net.Conn{near}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// run carries until both directions have ended or the passage is broken. A new connection goes through once both
// directions deliver, as a handshake needs both.
func (p *passage) run(near net.Conn, dial func(context.Context) (net.Conn, error)) {
	defer p.finish(false)
	for _, d := range []direction{p.forward, p.forward.back()} {
		if _, err := p.passable(d); err != nil {
			return
		}
	}
	far, err := dial(p.ctx)
	if err != nil {
		p.finish(true)
		return
	}
	if !p.own(far) {
		return
	}
	var carrying sync.WaitGroup
	carrying.Go(func() { p.carry(p.forward, near, far) })
	carrying.Go(func() { p.carry(p.forward.back(), far, near) })
	carrying.Wait()
}

// own takes a connection to be closed with the passage; it closes it at once if that is over.
func (p *passage) own(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		closeWithReset(conn)
		return false
	}
	p.ends = append(p.ends, conn)
	return true
}

// finish ends the passage. With reset both ends are told that the connection broke.
func (p *passage) finish(reset bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	p.over = true
	p.cancel()
	for _, end := range p.ends {
		if reset {
			closeWithReset(end)
		} else {
			end.Close()
		}
	}
}

func closeWithReset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // fails when the other side has closed already
	}
	conn.Close()
}

// passable waits until a direction delivers, and returns its condition.
func (p *passage) passable(d direction) (nemesis.Condition, error) {
	for {
		c, changed := p.links.at(d)
		if !c.Drop {
			return c, p.ctx.Err()
		}
		select {
		case <-changed:
		case <-p.ctx.Done():
			return c, p.ctx.Err()
		}
	}
}

// piece is some bytes on their way, or the news that there will be no more.
type piece struct {
	bytes []byte
	due   time.Time
	end   error // io.EOF for an end in good order
}

// piecesUnderWay bounds what a delay holds, in pieces of at most pieceSize bytes.
const (
	piecesUnderWay = 256
	pieceSize      = 32 << 10
)

// carry takes one direction's bytes from one end to the other.
func (p *passage) carry(d direction, in, out net.Conn) {
	queue := make(chan piece, piecesUnderWay)
	var delivering sync.WaitGroup
	delivering.Go(func() { p.deliver(d, queue, out) })
	p.collect(d, in, queue)
	close(queue)
	delivering.Wait()
}

func (p *passage) collect(d direction, in net.Conn, queue chan<- piece) {
	buffer := make([]byte, pieceSize)
	var last time.Time
	for {
		if _, err := p.passable(d); err != nil {
			return
		}
		n, err := in.Read(buffer)
		c, _ := p.links.at(d)
		due := time.Now().Add(delayOf(c))
		if due.Before(last) {
			due = last // a stream keeps its order
		}
		last = due
		select {
		case queue <- piece{bytes: slices.Clone(buffer[:n]), due: due, end: err}:
		case <-p.ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

func (p *passage) deliver(d direction, queue <-chan piece, out net.Conn) {
	for next := range queue {
		if p.until(next.due) != nil {
			return
		}
		if _, err := p.passable(d); err != nil {
			return
		}
		if _, err := out.Write(next.bytes); err != nil {
			// That the far side is gone is news that travels back.
			if _, err := p.passable(d.back()); err == nil {
				p.finish(true)
			}
			return
		}
		switch {
		case next.end == nil:
		case errors.Is(next.end, io.EOF):
			if tcp, ok := out.(*net.TCPConn); ok {
				_ = tcp.CloseWrite() // fails when that side is gone, which its own direction tells
			}
		default:
			p.finish(true)
		}
	}
}

func (p *passage) until(due time.Time) error {
	wait := time.Until(due)
	if wait <= 0 {
		return nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-p.ctx.Done():
		return p.ctx.Err()
	}
}

// delayOf is how long the next packet, or piece of a stream, takes under a condition.
func delayOf(c nemesis.Condition) time.Duration {
	delay := c.Delay
	if c.Jitter > 0 {
		delay += time.Duration(rand.Int64N(2*int64(c.Jitter)+1)) - c.Jitter
	}
	return max(delay, 0)
}
