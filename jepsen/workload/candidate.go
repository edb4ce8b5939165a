package workload

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/leasehold/leasehold/jepsen/history"
)

// candidate is an elector by the rules of client-go's, in little, whose clock can run fast or slow. Every step of it is
// an operation on record.
type candidate struct {
	*worker
	key    string
	timing Timing
	clock  float64 // seconds that pass on it in one second

	last    history.Version // as last read or written
	changed time.Time       // when that changed, as far as the candidate saw

	mu     sync.Mutex // guards what follows
	tenure *history.Tenure
	until  *time.Timer // ends the tenure at its deadline, also while an answer is waited for
}

// clocks are those of the rivals for every second lease; for the others all are right.
var clocks = [rivals]float64{0.8, 1, 1.25}

func newCandidate(j *job, lease, rival int) *candidate {
	c := &candidate{worker: j.scene.worker(fmt.Sprintf("%s-c%d-%d", j.label, lease, rival)), key: fmt.Sprintf("%s/own%03d", j.namespace(1), lease), timing: cmp.Or(j.Elections, timing), clock: 1}
	c.patience = c.timing.Timeout
	if lease%2 == 1 {
		c.clock = clocks[rival]
	}
	return c
}

// span is how long a time by the candidate's clock is.
func (c *candidate) span(d time.Duration) time.Duration { return time.Duration(float64(d) / c.clock) }

func (c *candidate) run(ctx context.Context) {
	defer c.yield()
	for sleep(ctx, c.span(c.timing.RetryPeriod+time.Duration(c.rng.Int64N(int64(c.timing.RetryPeriod/5))))) {
		if c.leads() && c.chance(2) {
			// It resigns, and stays away until another has had a chance.
			c.yield()
			sleep(ctx, c.span(c.timing.LeaseDuration+2*c.timing.RetryPeriod))
			continue
		}
		c.try(ctx)
	}
}

// try renews the lease, or takes it if it is free or its holder has not renewed it for LeaseDuration.
func (c *candidate) try(ctx context.Context) {
	e := c.endpoint()
	if !c.leads() {
		r := c.get(ctx, e, c.key)
		if r.Answer.Code == 404 {
			c.write(ctx, e, history.Version{Key: c.key})
			return
		}
		if !r.ok() {
			return
		}
		c.see(r.version())
		if c.last.Holder != "" && c.last.Holder != c.name && time.Since(c.changed) < c.span(c.timing.LeaseDuration) {
			return
		}
	}
	c.write(ctx, e, c.last)
}

// write puts the candidate's name in place of what was seen. If it cannot tell whether that was done, it reads before it
// tries again.
func (c *candidate) write(ctx context.Context, e Endpoint, seen history.Version) {
	next := content{Key: c.key, ID: c.next(), Holder: c.name, Transitions: seen.Transitions, Seconds: int32(c.timing.LeaseDuration.Seconds()),
		Renewed: microTime(time.Now())}
	var r result
	if seen.Revision == 0 {
		r = c.create(ctx, e, next)
	} else {
		if seen.Holder != c.name {
			next.Transitions++
		}
		next.UID, next.Revision = seen.UID, text(seen.Revision)
		r = c.update(ctx, e, next, false, false)
	}
	if r.ok() {
		c.see(r.version())
		c.lead()
		return
	}
	if r := c.get(ctx, c.endpoint(), c.key); r.ok() {
		c.see(r.version())
		if c.last.Holder != c.name {
			c.yield()
		}
	}
}

func (c *candidate) see(v history.Version) {
	if v.Revision != c.last.Revision {
		c.last, c.changed = v, time.Now()
	}
}

func (c *candidate) leads() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tenure != nil
}

// lead begins a tenure, or makes it last longer.
func (c *candidate) lead() {
	c.mu.Lock()
	defer c.mu.Unlock()
	deadline := c.span(c.timing.RenewDeadline)
	if c.tenure != nil {
		c.until.Reset(deadline)
		return
	}
	c.until = time.AfterFunc(deadline, c.yield)
	c.tenure = &history.Tenure{Key: c.key, Holder: c.name, Client: c.name, Disturb: c.clock != 1, Duration: c.timing.LeaseDuration.Nanoseconds()}
	c.tell(history.Lead)
}

func (c *candidate) yield() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tenure == nil {
		return
	}
	c.until.Stop()
	c.tell(history.Yield)
	c.tenure = nil
}

// tell records what the candidate believes from now on. mu is held.
func (c *candidate) tell(what history.Type) {
	tenure := *c.tenure
	tenure.At = c.scene.Recorder.Now()
	c.scene.Recorder.Record(history.Event{Process: c.name, Type: what, Tenure: &tenure})
}
