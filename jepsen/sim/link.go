package sim

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/leasehold/leasehold/jepsen/nemesis"
)

// link is the way from one place to another, in one direction.
type link struct {
	base time.Duration // how long a packet takes when nothing is wrong

	mu        sync.Mutex // guards what follows; never held while waiting
	rand      *rand.Rand
	condition nemesis.Condition
	frozen    int           // ends of it that stand still
	healed    time.Time     // when it last was blocked
	resent    time.Time     // what was sent before healed arrives no sooner
	changed   chan struct{} // closed when anything of this has changed
}

func newLink(base time.Duration, seed uint64) *link {
	return &link{base: base, rand: rand.New(rand.NewPCG(seed, 1)), changed: make(chan struct{})}
}

func (l *link) set(c nemesis.Condition) { l.change(func() { l.condition = c }) }

// freeze makes one end of the link stand still, or lets it go on.
func (l *link) freeze(by int) { l.change(func() { l.frozen += by }) }

// maxResend bounds how long TCP takes to find out that a link works again.
const maxResend = time.Second

func (l *link) change(apply func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.blocked()
	apply()
	if before && !l.blocked() {
		l.healed = time.Now()
		l.resent = l.healed.Add(time.Duration(l.rand.Int64N(int64(maxResend))))
	}
	close(l.changed)
	l.changed = make(chan struct{})
}

// blocked says whether nothing passes at all. The caller holds mu.
func (l *link) blocked() bool { return l.condition.Drop || l.frozen > 0 || l.condition.Loss >= 1 }

// stuck says whether nothing passes at present.
func (l *link) stuck() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.blocked()
}

// resets says whether connections are answered with a reset.
func (l *link) resets() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.condition.Reset
}

// resend is how long TCP waits until it sends a lost packet for the first time again.
const resend = 200 * time.Millisecond

// due says when what is sent now arrives, if the link is not blocked then.
func (l *link) due(now time.Time) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	delay := l.base
	if l.base > 0 {
		delay += time.Duration(l.rand.Int64N(int64(l.base)))
	}
	delay += l.condition.Delay
	if j := l.condition.Jitter; j > 0 {
		delay += time.Duration(l.rand.Int64N(int64(2*j))) - j
	}
	for again := resend; l.condition.Loss > 0 && l.rand.Float64() < l.condition.Loss && again < 10*time.Second; again *= 2 {
		delay += again
	}
	return now.Add(max(delay, 0))
}

// arrives says when a packet arrives that was sent and due at these times; if it is stuck, that must be asked again once
// changed is closed.
func (l *link) arrives(sent, due time.Time) (at time.Time, stuck bool, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.blocked() {
		return time.Time{}, true, l.changed
	}
	if sent.Before(l.healed) && due.Before(l.resent) {
		due = l.resent
	}
	return due, false, l.changed
}

// pass returns when one packet has passed, or with the context's error.
func (l *link) pass(ctx context.Context) error {
	sent := time.Now()
	due := l.due(sent)
	for {
		at, stuck, changed := l.arrives(sent, due)
		var wait <-chan time.Time
		if !stuck {
			left := time.Until(at)
			if left <= 0 {
				return ctx.Err()
			}
			wait = time.After(left)
		}
		select {
		case <-wait:
			if _, stuck, _ := l.arrives(sent, due); !stuck {
				return ctx.Err()
			}
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
