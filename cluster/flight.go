package cluster

import (
	"errors"
	"time"

	"github.com/leasehold/leasehold/fsm"
	"github.com/leasehold/leasehold/fsm/seeded"
)

const (
	// maxFlights bounds the groups of proposals that are on their way at once. While that many are, the others gather:
	// that makes full groups under load, without a timer and without a delay when idle. With two, one waits at the leader
	// for the entry that carries the other, so that no entry leaves without this node.
	maxFlights = 2
	// hungAfter is how long a group may stay unanswered before it is sent again.
	hungAfter = time.Second
	// pause is the wait before a group is sent again to a leader that just refused or dropped it, unless there is news.
	pause = 10 * time.Millisecond
)

// flight is one group on its way to one leader.
type flight struct {
	proposals []*proposal // empty when it opens the session
	session   *session
	view      view
	sent      time.Time
	landed    bool // answered or given up; whatever still comes is ignored
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
	case len(r.flights) > 0 && seeded.DoubleApply:
		return impatience / 4
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
		case seeded.DoubleApply && f.view.leader != r.node.config.ID && now.Sub(f.sent) > impatience:
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
	if r.node.machine.State().Revision() >= revision || seeded.AckEarly {
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
