package e2e

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const errRefused = syscall.ECONNREFUSED

// renewals are many renewers under way.
type renewals struct {
	renewers []*renewer
	stopNow  context.CancelFunc
	running  sync.WaitGroup
}

// renew starts clients that renew at a rate in all, spread over some nodes, and returns when each has renewed once.
func (c *cluster) renew(nodes []int, clients, rate int) *renewals {
	c.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	l := &renewals{stopNow: cancel}
	c.t.Cleanup(func() { l.stop() })
	var first sync.WaitGroup
	for i := range clients {
		r := c.newRenewer(fmt.Sprintf("lease-%d", i), nodes[i%len(nodes)])
		l.renewers = append(l.renewers, r)
		first.Go(func() {
			r.look(ctx)
			r.began = r.count
			r.renew(ctx, time.Now())
		})
	}
	first.Wait()
	interval := time.Duration(clients) * time.Second / time.Duration(rate)
	start := time.Now()
	for i, r := range l.renewers {
		l.running.Go(func() { r.run(ctx, start.Add(interval*time.Duration(i)/time.Duration(clients)), interval) })
	}
	return l
}

// more returns after n more acknowledgements, of which every client has had one.
func (l *renewals) more(t *testing.T, n int) {
	t.Helper()
	var before []int64
	for _, r := range l.renewers {
		before = append(before, r.done.Load())
	}
	require.Eventually(t, func() bool {
		all := 0
		for i, r := range l.renewers {
			one := r.done.Load() - before[i]
			if one == 0 {
				return false
			}
			all += int(one)
		}
		return all >= n
	}, patience, 20*time.Millisecond)
}

// stop ends the clients, each after its last answer.
func (l *renewals) stop() {
	l.stopNow()
	l.running.Wait()
}

// What follows may be called after stop.

func (l *renewals) failures() []failure {
	var all []failure
	for _, r := range l.renewers {
		all = append(all, r.failures...)
	}
	slices.SortFunc(all, func(a, b failure) int { return a.at.Compare(b.at) })
	return all
}

// accounts returns what the clients say.
func (l *renewals) accounts() map[string]account {
	all := map[string]account{}
	for _, r := range l.renewers {
		all[r.lease] = account{r.began, r.fates}
	}
	return all
}

// acknowledged returns how many writes were.
func (l *renewals) acknowledged() int {
	n := 0
	for _, r := range l.renewers {
		n += len(r.acks)
	}
	return n
}

// outage returns the longest time in which no client at all got an acknowledgement.
func (l *renewals) outage() time.Duration {
	var all []time.Time
	for _, r := range l.renewers {
		all = append(all, r.acks...)
	}
	slices.SortFunc(all, time.Time.Compare)
	var longest time.Duration
	for i := 1; i < len(all); i++ {
		longest = max(longest, all[i].Sub(all[i-1]))
	}
	return longest
}

// slowest returns the longest time from a renewal's intended start to its acknowledgement.
func (l *renewals) slowest() time.Duration {
	var slowest time.Duration
	for _, r := range l.renewers {
		slowest = max(slowest, r.slowest)
	}
	return slowest
}

// longestGap returns the longest time that any one client had to wait between two acknowledgements. A lock whose holder
// waits longer than its renew deadline is lost.
func (l *renewals) longestGap() time.Duration {
	var gap time.Duration
	for _, r := range l.renewers {
		gap = max(gap, r.gap)
	}
	return gap
}

// unknown returns how many attempts have an unknown outcome.
func (l *renewals) unknown() int {
	n := 0
	for _, r := range l.renewers {
		for _, fate := range r.fates {
			if !fate.acknowledged {
				n++
			}
		}
	}
	return n
}
