package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/leasehold/leasehold/httpapi/discovery"
	"github.com/leasehold/leasehold/jepsen/check"
	"github.com/leasehold/leasehold/jepsen/history"
)

// Run simulates bubble after bubble until the hours are over, ctx ends or one of them does not pass. An error says that the
// simulation itself failed; that a guarantee was broken is in the result.
//
// It must not be called from within a test of its own process.
func Run(ctx context.Context, o Options) (Result, error) {
	var r Result
	var failure error
	err := withTest(func(t *testing.T) { r, failure = run(ctx, t, o) })
	if failure != nil {
		err = failure
	}
	return r, err
}

// run is Run within a test.
func run(ctx context.Context, t *testing.T, o Options) (Result, error) {
	r := Result{Verdict: check.Pass, Faults: make(map[string]int)}
	if err := o.validate(); err != nil {
		return r, err
	}
	o = o.withDefaults()
	documents, err := discovery.New("simulated", discovery.Served()...)
	if err != nil {
		return r, err
	}
	began := time.Now()
	seed := o.Seed
	whole := time.Duration(o.Hours * float64(time.Hour))
	count := max(1, int((whole+o.Bubble/2)/o.Bubble))
	for range count {
		if ctx.Err() != nil {
			break
		}
		p := newPlan(seed, o, documents)
		p.duration = whole / time.Duration(count)
		b, h, err := p.bubble(ctx, t, o)
		if err != nil {
			return r, fmt.Errorf("bubble of seed %d: %w", seed, err)
		}
		r.add(b, h)
		r.Took = time.Since(began)
		if o.Progress != nil {
			o.Progress(b, r)
		}
		if b.Report.Verdict != check.Pass && !o.KeepGoing {
			break
		}
		seed = next(seed)
	}
	r.conclude()
	return r, nil
}

// next is the seed of the bubble after that of a seed, so that any bubble can be had again alone.
func next(seed uint64) uint64 {
	seed += 0x9e3779b97f4a7c15
	seed = (seed ^ seed>>30) * 0xbf58476d1ce4e5b9
	seed = (seed ^ seed>>27) * 0x94d049bb133111eb
	return (seed ^ seed>>31) >> 32 // short enough to type
}

// bubble simulates and judges one plan.
func (p plan) bubble(ctx context.Context, t *testing.T, o Options) (Bubble, *history.History, error) {
	began := time.Now()
	left, err := simulate(t, ctx, p)
	write := func(out io.Writer) error { return history.Write(out, left.events) }
	if err != nil {
		if o.Keep != nil {
			err = errors.Join(err, o.Keep(Bubble{Seed: p.seed, Nodes: p.nodes}, write))
		}
		return Bubble{}, nil, err
	}
	b := Bubble{Seed: p.seed, Nodes: p.nodes, Simulated: time.Duration(left.history.End), Report: p.judge(left)}
	b.Took = time.Since(began)
	if o.Keep != nil {
		err = o.Keep(b, write)
	}
	return b, left.history, err
}

// add counts one more bubble.
func (r *Result) add(b Bubble, h *history.History) {
	r.Bubbles++
	r.Simulated += b.Simulated
	r.Operations += len(h.Operations)
	for i := range h.Operations {
		if h.Operations[i].Outcome == history.Info {
			r.Unknown++
		}
	}
	for i := range h.Streams {
		r.Events += len(h.Streams[i].Changes)
	}
	for i := range h.Windows {
		if h.Windows[i].Error == "" {
			r.Faults[h.Windows[i].Kind]++
		}
	}
	r.Elections += b.Report.Counts[countElections]
	r.Restarts += b.Report.Counts[countRestarts]
	r.Snapshots += b.Report.Counts[countSnapshots]
	if b.Report.Verdict != check.Pass {
		r.Failures = append(r.Failures, b)
		r.Verdict = check.Worse(r.Verdict, b.Report.Verdict)
	}
}

// conclude puts the result into a sentence.
func (r *Result) conclude() {
	faults := 0
	for _, n := range r.Faults {
		faults += n
	}
	times := 0.0
	if r.Took > 0 {
		times = r.Simulated.Seconds() / r.Took.Seconds()
	}
	r.Sentence = fmt.Sprintf("%s simulated in %s (%.0f times life): %d operations, %d events, %d faults, %d elections, %d restarts, %d snapshots",
		r.Simulated.Round(time.Second), r.Took.Round(time.Second), times, r.Operations, r.Events, faults, r.Elections, r.Restarts, r.Snapshots)
	if len(r.Failures) == 0 {
		r.Sentence = "PASS " + r.Sentence
		return
	}
	first := r.Failures[0]
	r.Sentence = fmt.Sprintf("FAIL seed %d: %s; %s", first.Seed, first.Report.Sentence, r.Sentence)
}
