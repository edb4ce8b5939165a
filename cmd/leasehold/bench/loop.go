package bench

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// load says how hard to drive.
type load struct {
	workers  int
	rate     float64       // operations a second in all, started at fixed times; 0 is a closed loop
	warmup   time.Duration // not measured
	duration time.Duration // measured
}

// operation does one thing as one of the workers. intended is when it should have started.
type operation func(ctx context.Context, worker int, intended time.Time) error

// tally is what one worker counts. Only its worker writes the histogram and errors, and only in the measured time.
type tally struct {
	latency histogram
	errors  int
	first   error // the first of errors
	done    atomic.Int64
	_       [64]byte // the next worker's counter is on another cache line
}

// window is the measured time, which begins after the warm-up.
type window struct {
	started, ended time.Time
}

// drive runs the operation in all workers for warm-up and duration. mark is called at the beginning and at the end of
// the measured time while the load goes on; progress once a second with what has been done in all.
func (l load) drive(ctx context.Context, op operation, mark func(ctx context.Context) error, progress func(done int64)) ([]*tally, window, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		tallies   = make([]*tally, l.workers)
		measuring atomic.Bool
		over      atomic.Bool
		tickets   = newTickets(l.rate)
		workers   sync.WaitGroup
	)
	for i := range tallies {
		tallies[i] = &tally{}
		workers.Go(func() {
			for !over.Load() && ctx.Err() == nil {
				intended, ok := tickets.take(ctx, &over)
				if !ok {
					return
				}
				err := op(ctx, i, intended)
				tallies[i].note(err, time.Since(intended), measuring.Load() && !over.Load())
			}
		})
	}
	measured, err := l.watch(ctx, tallies, &measuring, mark, progress)
	over.Store(true)
	workers.Wait()
	return tallies, measured, err
}

// watch lets the time pass.
func (l load) watch(ctx context.Context, tallies []*tally, measuring *atomic.Bool, mark func(ctx context.Context) error, progress func(done int64)) (window, error) {
	if err := pass(ctx, l.warmup, nil); err != nil {
		return window{}, err
	}
	if err := mark(ctx); err != nil {
		return window{}, err
	}
	measuring.Store(true)
	measured := window{started: time.Now()}
	err := pass(ctx, l.duration, func() {
		var done int64
		for _, t := range tallies {
			done += t.done.Load()
		}
		progress(done)
	})
	measuring.Store(false)
	measured.ended = time.Now()
	if err != nil {
		return measured, err
	}
	return measured, mark(ctx)
}

// pass returns after d, or with the context's error. each is called every second.
func pass(ctx context.Context, d time.Duration, each func()) error {
	end := time.NewTimer(d)
	defer end.Stop()
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-second.C:
			if each != nil {
				each()
			}
		case <-end.C:
			return nil
		}
	}
}

func (t *tally) note(err error, took time.Duration, measured bool) {
	if !measured {
		return
	}
	if err != nil {
		t.errors++
		if t.first == nil {
			t.first = err
		}
		return
	}
	t.latency.record(took)
	t.done.Add(1)
}

// tickets hands out intended starts: at once in a closed loop, at fixed times in an open one, whether or not anybody
// was free then.
type tickets struct {
	every time.Duration
	start time.Time
	next  atomic.Int64
}

func newTickets(rate float64) *tickets {
	t := &tickets{start: time.Now()}
	if rate > 0 {
		t.every = time.Duration(float64(time.Second) / rate)
	}
	return t
}

// take waits for the next start. It reports false when the run is over.
func (t *tickets) take(ctx context.Context, over *atomic.Bool) (time.Time, bool) {
	if t.every == 0 {
		return time.Now(), true
	}
	intended := t.start.Add(time.Duration(t.next.Add(1)-1) * t.every)
	if wait := time.Until(intended); wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return time.Time{}, false
		}
	}
	return intended, !over.Load()
}
