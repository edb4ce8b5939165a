package workload

import (
	"context"
	"math/rand/v2"
	"time"
)

// arrears is how far behind its plan a client may be and still make up for it. What is further behind is left out, for a
// cluster that comes back should not meet all that was missed at once.
const arrears = time.Second

// pacer spaces a client's operations by a plan that does not wait for answers, as real load does: a slow answer makes the
// next call follow at once.
type pacer struct {
	every time.Duration
	next  time.Time
	rng   *rand.Rand
}

func newPacer(every time.Duration, rng *rand.Rand) *pacer {
	return &pacer{every: every, next: time.Now().Add(time.Duration(rng.Float64() * float64(every))), rng: rng}
}

// wait waits until the next operation is due, and says false when ctx has ended.
func (p *pacer) wait(ctx context.Context) bool {
	if late := time.Now().Add(-arrears); p.next.Before(late) {
		p.next = late
	}
	due := p.next
	p.next = due.Add(time.Duration((0.5 + p.rng.Float64()) * float64(p.every)))
	return sleep(ctx, time.Until(due))
}

// sleep says false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
