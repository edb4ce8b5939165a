package cluster

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/leasehold/leasehold/fsm"
)

const (
	// maxFlights bounds the groups of proposals that are on their way at once. While that many are, the others gather:
	// that alone is what makes full batches under load, without a timer and without a delay when idle. With two, one
	// waits at the leader for the entry that carries the other, so that no entry leaves without this node.
	maxFlights = 2
	// hungAfter is how long a group may stay unanswered before it is sent again.
	hungAfter = time.Second
	// pause is the wait before a group is sent again to a leader that just refused or dropped it, unless there is news.
	pause = 10 * time.Millisecond
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

// flight is one group on its way to one leader.
type flight struct {
	proposals []*proposal // empty when it opens the session
	session   *session
	view      view
	sent      time.Time
	landed    bool // answered or given up; whatever still comes is ignored
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

// settlement is an answered flight that waits for this node's machine to have come as far as the answer.
type settlement struct {
	proposals []*proposal
	revision  uint64
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

// send sends what may be sent now and returns after how long to look again, 0 for not before something happens.
func (r *proposer) send(to view) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	r.recall(to, now)
	for to.leader != "" && len(r.flights) < maxFlights && !now.Before(r.resume) {
		f := r.group(to, now)
		if f == nil {
			break
		}
		payload, count := r.encode(f)
		r.flights[f] = struct{}{}
		r.mu.Unlock()
		r.node.route(to, payload, count, func(results []fsm.Result, err error) { r.land(f, results, err) })
		r.mu.Lock()
	}
	switch {
	case len(r.waiting) > 0 && now.Before(r.resume):
		return r.resume.Sub(now)
	case len(r.flights) > 0:
		return hungAfter / 4
	}
	return 0
}

// recall takes back the flights that will not be answered in time: those sent to a leader that another has followed,
// and those that hang on a connection. Their proposals go out again, with the same session and seq.
func (r *proposer) recall(to view, now time.Time) {
	for f := range r.flights {
		switch {
		case to.leader != "" && to.epoch != f.view.epoch:
			r.ground(f, true)
		case f.view.leader != r.node.config.ID && now.Sub(f.sent) > hungAfter:
			r.node.links.hung(f.view.leader)
			r.ground(f, true)
		}
	}
}

// ground ends a flight without an answer. uncertain says that its commands may be in a log.
func (r *proposer) ground(f *flight, uncertain bool) {
	f.landed = true
	delete(r.flights, f)
	again := make([]*proposal, 0, len(f.proposals)+len(r.waiting))
	for _, p := range f.proposals {
		p.flying = false
		p.uncertain = p.uncertain || uncertain
		if !p.answered {
			again = append(again, p)
			r.bytes += commandSize(&p.command)
		}
	}
	r.waiting = append(again, r.waiting...)
}

// group forms the next flight: the opening of the session if that is due, or else proposals up to the size of an
// entry. It returns nil when there is nothing to send.
func (r *proposer) group(to view, now time.Time) *flight {
	f := &flight{session: r.session, view: to, sent: now}
	if !r.session.open {
		if len(r.flights) > 0 {
			return nil
		}
		return f
	}
	size, taken := 0, 0
	for _, p := range r.waiting {
		own := commandSize(&p.command)
		if !p.answered {
			if len(f.proposals) > 0 && size+own > r.node.config.MaxEntry {
				break
			}
			f.proposals = append(f.proposals, p)
			size += own
		}
		r.bytes -= own
		taken++
	}
	clear(r.waiting[:taken])
	r.waiting = r.waiting[taken:]
	if len(r.waiting) == 0 {
		r.waiting = nil
	}
	if len(f.proposals) == 0 {
		return nil
	}
	return f
}

// encode numbers the flight's commands where that was not done before, and encodes them one after the other.
func (r *proposer) encode(f *flight) (payload []byte, count int) {
	if len(f.proposals) == 0 {
		open := fsm.Command{Op: fsm.OpOpenSession, Session: f.session.id, Node: r.node.config.ID}
		return fsm.AppendCommand(nil, &open), 1
	}
	size := 0
	for _, p := range f.proposals {
		size += commandSize(&p.command)
	}
	payload = make([]byte, 0, size)
	for _, p := range f.proposals {
		if p.session == nil {
			p.session = f.session
			p.command.Session = f.session.id
			p.command.Seq = f.session.next()
		}
		p.command.Mark = p.session.mark
		p.flying = true
		payload = fsm.AppendCommand(payload, &p.command)
	}
	return payload, len(f.proposals)
}

// land takes the answer to a flight. It never blocks.
func (r *proposer) land(f *flight, results []fsm.Result, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f.landed {
		return
	}
	defer signal(r.wake)
	if err != nil {
		r.ground(f, !errors.Is(err, errNotApplied))
		r.resume = time.Now().Add(pause)
		return
	}
	f.landed = true
	delete(r.flights, f)
	if len(f.proposals) == 0 {
		if results[0].Outcome == fsm.Accepted {
			f.session.open = true
		} else {
			r.renew(results[0]) // nothing was ever sent in it
		}
		return
	}
	var revision uint64
	answered := f.proposals[:0]
	for i, p := range f.proposals {
		p.flying = false
		if r.accept(p, results[i]) {
			p.command.Object = nil // of which there may be many, should this node lag behind
			answered = append(answered, p)
			revision = max(revision, results[i].Revision)
		}
	}
	if r.node.machine.State().Revision() >= revision {
		release(answered)
		return
	}
	r.settle = append(r.settle, settlement{proposals: answered, revision: revision})
	r.unsettled += len(answered)
	signal(r.settling)
}

// renew takes another session in the place of one that the machine knows to be of no use.
func (r *proposer) renew(result fsm.Result) {
	r.node.logger.Warn("session has ended, opening another", "revision", result.Revision)
	r.session = newSession()
}

// accept takes what the log made of p. It returns false when p waits to be sent once more.
func (r *proposer) accept(p *proposal, result fsm.Result) bool {
	switch {
	case p.answered:
	case result.Outcome == fsm.Ended && !p.uncertain:
		// This was the only copy and it was refused: the command can start over in a new session.
		if p.session == r.session {
			r.renew(result)
		}
		p.session.finish(p.command.Seq)
		p.session = nil
		r.waiting = append(r.waiting, p)
		r.bytes += commandSize(&p.command)
		return false
	case result.Outcome == fsm.Ended, result.Outcome == fsm.Stale:
		if p.session == r.session && result.Outcome == fsm.Ended {
			r.renew(result)
		}
		r.answer(p, fsm.Result{}, ErrUnknownOutcome)
	default:
		r.answer(p, result, nil)
	}
	return true
}

// release wakes the callers of answered proposals. Each is released once.
func release(proposals []*proposal) {
	for _, p := range proposals {
		if !p.abandoned {
			close(p.done)
		}
	}
}

// runSettle releases answered proposals once the machine of this node has come as far as their answer, until ctx ends.
func (r *proposer) runSettle(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.settling:
		}
		r.mu.Lock()
		settle := r.settle
		r.settle = nil
		r.mu.Unlock()
		for i, s := range settle {
			err := r.node.machine.WaitRevision(ctx, s.revision)
			r.mu.Lock()
			if err != nil {
				r.settle = append(settle[i:], r.settle...)
				r.mu.Unlock()
				return
			}
			release(s.proposals)
			r.unsettled -= len(s.proposals)
			r.mu.Unlock()
		}
	}
}

// close refuses new proposals.
func (r *proposer) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
}

// idle reports whether nothing is waiting or on its way.
func (r *proposer) idle() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
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
