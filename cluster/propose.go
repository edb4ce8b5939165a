package cluster

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/leasehold/leasehold/fsm"
)

// proposal is one command on its way, from Propose's call to its return. The proposer's lock guards it.
type proposal struct {
	command fsm.Command
	done    chan struct{} // closed once result or err is final and the machine here has it
	result  fsm.Result
	err     error

	session   *session // the session that seq belongs to, nil before the first sending
	answered  bool     // result or err holds; done may still wait for this node's machine
	abandoned bool     // its caller has gone
	uncertain bool     // an earlier sending may have reached a log
	flying    bool     // is in a flight now
}

// proposer gathers this node's proposals into groups, sends each group to the leader, and sends it again until it is
// answered.
type proposer struct {
	node *Node
	wake chan struct{} // capacity 1: there may be something to send

	mu      sync.Mutex // guards what follows, all proposals and all flights
	closed  bool
	waiting []*proposal
	bytes   int // of waiting
	flights map[*flight]struct{}
	session *session
	resume  time.Time // nothing is sent before
	settle  []settlement

	unsettled int // proposals that were answered and wait for this node's machine, in settle or on the way from there

	settling chan struct{} // capacity 1: there may be something in settle
}

func newProposer(n *Node) *proposer {
	return &proposer{
		node:     n,
		wake:     make(chan struct{}, 1),
		flights:  make(map[*flight]struct{}),
		session:  newSession(),
		settling: make(chan struct{}, 1),
	}
}

// Propose gets an object command into the log exactly once and returns what the log made of it, definite in either
// way. It fills in Session, Seq and Mark. It works on every node, retries in silence through changes of leader until
// ctx ends, and returns once this node's own machine has applied the result too (or ctx has ended meanwhile: the
// result then still is definite).
//
// Errors: ErrUnknownOutcome, ErrUnavailable, ErrOverloaded, ErrTooLarge, ErrClosed.
func (n *Node) Propose(ctx context.Context, command fsm.Command) (fsm.Result, error) {
	if size := commandSize(&command); size > n.config.MaxCommand {
		return fsm.Result{}, fmt.Errorf("propose %s: %d bytes: %w", command.Key, size, ErrTooLarge)
	}
	p := &proposal{command: command, done: make(chan struct{})}
	if err := n.proposer.add(p); err != nil {
		return fsm.Result{}, fmt.Errorf("propose %s: %w", command.Key, err)
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		n.proposer.abandon(p)
	}
	if p.err != nil {
		return fsm.Result{}, fmt.Errorf("propose %s: %w", command.Key, p.err)
	}
	return p.result, nil
}

func (r *proposer) add(p *proposal) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	size := commandSize(&p.command)
	switch {
	case r.closed:
		return ErrClosed
	case r.full(size) && (!r.forget() || r.full(size)):
		return ErrOverloaded
	}
	r.waiting = append(r.waiting, p)
	r.bytes += size
	if len(r.flights) < maxFlights {
		signal(r.wake)
	}
	return nil
}

// full reports whether a proposal of so many bytes is one too many.
func (r *proposer) full(size int) bool {
	return len(r.waiting)+r.unsettled >= r.node.config.MaxWaitingCommands ||
		len(r.waiting) > 0 && r.bytes+size > r.node.config.MaxWaiting
}

// forget drops waiting proposals whose callers have gone, and reports whether there were any. While no leader is known
// nothing else does.
func (r *proposer) forget() bool {
	before := len(r.waiting)
	r.waiting = slices.DeleteFunc(r.waiting, func(p *proposal) bool {
		if p.answered {
			r.bytes -= commandSize(&p.command)
		}
		return p.answered
	})
	return len(r.waiting) < before
}

// abandon gives up on p, whose caller must leave, and settles how: on return p.result or p.err is final.
func (r *proposer) abandon(p *proposal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.answered {
		return
	}
	if p.uncertain || p.flying {
		r.answer(p, fsm.Result{}, ErrUnknownOutcome)
	} else {
		r.answer(p, fsm.Result{}, ErrUnavailable)
	}
	p.abandoned = true
}

// answer makes the end of p known to whoever looks under the lock; wake-up is the caller's affair.
func (r *proposer) answer(p *proposal, result fsm.Result, err error) {
	p.answered, p.result, p.err = true, result, err
	if p.session != nil {
		p.session.finish(p.command.Seq)
	}
}

// run sends groups until ctx ends.
func (r *proposer) run(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		current, changed := r.node.leaders.view()
		next := r.send(current)
		if next > 0 {
			timer.Reset(next)
		} else {
			timer.Stop()
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
			r.mu.Lock()
			r.resume = time.Time{}
			r.mu.Unlock()
		case <-timer.C:
		case <-r.wake:
			// Callers that were woken together come back together: let them all in before the group leaves.
			runtime.Gosched()
		}
	}
}

// close refuses new proposals.
func (r *proposer) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
}

// idle reports whether nothing is waiting or on its way that a caller waits for.
func (r *proposer) idle() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget()
	return len(r.flights) == 0 && len(r.waiting) == 0 && len(r.settle) == 0
}

// stop ends every proposal that is left, once nothing is sent any more.
func (r *proposer) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for f := range r.flights {
		r.ground(f, true)
	}
	for _, p := range r.waiting {
		if p.answered {
			continue // its caller has gone
		}
		err := ErrClosed
		if p.uncertain {
			err = ErrUnknownOutcome
		}
		r.answer(p, fsm.Result{}, err)
		close(p.done)
	}
	for _, s := range r.settle {
		release(s.proposals)
	}
	r.waiting, r.settle = nil, nil
}

// commandSize bounds the encoded size of a command from above, roughly.
func commandSize(c *fsm.Command) int {
	return 96 + len(c.Key.Resource) + len(c.Key.Namespace) + len(c.Key.Name) + len(c.UID) + len(c.Object) + len(c.Expect.UID)
}

// signal puts a token into a channel of capacity 1 that stands for "look again".
func signal(wake chan struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}
