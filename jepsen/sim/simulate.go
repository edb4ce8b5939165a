package sim

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/leasehold/leasehold/jepsen/history"
)

// outcome is what a bubble leaves behind.
type outcome struct {
	history   *history.History
	events    []history.Event
	nodes     []string
	exits     []string // of processes that ended themselves without a reason
	sick      error    // what could not be healed
	lives     int      // of processes
	snapshots int      // that disks took
}

// simulate runs one plan in a bubble. It looks at stop now and then, whose end ends the
// bubble early; the context's channel must not be waited for inside of one.
func simulate(t *testing.T, stop context.Context, p plan) (outcome, error) {
	var o outcome
	var failure error
	err := inBubble(t, func() { o, failure = p.run(stop) })
	return o, errors.Join(err, failure)
}

// run is the bubble's main goroutine.
func (p plan) run(stop context.Context) (outcome, error) {
	builder := history.NewBuilder()
	var malformed error
	var events []history.Event
	recorder := history.NewRecorder(nil, func(e history.Event) {
		events = append(events, e)
		if err := builder.Add(e); err != nil && malformed == nil {
			malformed = fmt.Errorf("history line %d: %w", e.Index, err)
		}
	})
	bed, err := newTestbed(p.nodes, &p.settings, p.timing, p.seed)
	if err != nil {
		return outcome{}, err
	}
	sick, err := p.act(stop, bed, recorder)
	err = errors.Join(err, bed.close(), malformed)
	return outcome{history: builder.History(), events: events, nodes: bed.nodes, sick: sick, exits: bed.exits, lives: bed.lives, snapshots: bed.snapshots}, err
}

// act is a cluster's time: clients work, faults come and go, all is healed, and everything is read once more.
// What could not be healed is told apart from what kept the simulation from its work.
func (p plan) act(stop context.Context, bed *testbed, recorder *history.Recorder) (sick, failure error) {
	if err := bed.awaitLevel(patience); err != nil {
		return fmt.Errorf("at the beginning: %w", err), nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var working sync.WaitGroup
	var workFailed error
	working.Go(func() { workFailed = p.work(ctx, bed, recorder) })
	harming, heal := context.WithCancel(ctx)
	defer heal()
	if p.meddle != nil {
		working.Go(func() { p.meddle(bed) })
	}
	harmed := make(chan error, 1)
	go func() { harmed <- p.harm(harming, bed, recorder) }()

	for end := time.Now().Add(p.duration); time.Now().Before(end) && stop.Err() == nil; {
		time.Sleep(min(time.Second, time.Until(end)))
	}
	heal()
	sick = <-harmed
	cancel()
	working.Wait()
	bed.final(recorder)
	return sick, workFailed
}

// patience is how long a healed cluster may take until all nodes are ready and level.
const patience = 30 * time.Second

// awaitLevel waits until all nodes are up and ready.
func (b *testbed) awaitLevel(patience time.Duration) error {
	deadline := time.Now().Add(patience)
	for {
		problem := b.unready()
		if problem == nil || time.Now().After(deadline) {
			return problem
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (b *testbed) unready() error {
	for _, node := range b.nodes {
		sample, err := b.ask(b.ctx, node, false)
		if err != nil {
			return err
		}
		if !sample.Ready {
			return fmt.Errorf("%s is not ready", node)
		}
	}
	return nil
}

// final records what all nodes hold once nothing changes any more.
func (b *testbed) final(recorder *history.Recorder) {
	samples := make(map[string]history.Sample)
	for deadline := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		for _, node := range b.nodes {
			if sample, err := b.Sample(b.ctx, node); err == nil {
				samples[node] = sample
			}
		}
		if b.levels(samples) || time.Now().After(deadline) {
			break
		}
	}
	for _, node := range b.nodes {
		sample, ok := samples[node]
		if !ok {
			sample.Error = "it does not answer"
		}
		sample.Final = true
		recorder.Record(history.Event{Process: "final", Type: history.Probe, Node: node, Sample: &sample})
	}
}
