package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/leasehold/leasehold/jepsen/history"
)

// Process is who speaks in the history of faults; Prober of samples.
const (
	Process = "nemesis"
	Prober  = "prober"
)

// Hooks are what a run of faults can make use of beside the cluster. All may be left out.
type Hooks struct {
	// Meter tells what clients went through. It is the caller's to have it follow the history.
	Meter *Meter
	// Burst has the workload send factor times as much as usual until ctx ends.
	Burst func(ctx context.Context, factor int) error
	// Sampled takes each sample of a node. Without it they are recorded as lines of the history.
	Sampled func(node string, s history.Sample)
	// LookEvery is how long to wait between two samples of a node. Default 250 ms.
	LookEvery time.Duration
	// Notice is told in a sentence what happened that no line of the history tells.
	Notice func(sentence string)
}

// Nemesis does the faults of a schedule to one cluster.
type Nemesis struct {
	ward     *ward
	observer *observer
	recorder *history.Recorder
	hooks    Hooks
	began    time.Time

	mu      sync.Mutex // guards what follows
	errs    []error
	refused map[string]bool // kinds that turned out to be unsupported
	revived map[string]int
}

// New returns a nemesis for a cluster whose nodes all run, and run well.
func New(target Target, recorder *history.Recorder, hooks Hooks) *Nemesis {
	if hooks.Sampled == nil {
		hooks.Sampled = func(node string, s history.Sample) {
			recorder.Record(history.Event{Process: Prober, Type: history.Probe, Node: node, Sample: &s})
		}
	}
	if hooks.LookEvery == 0 {
		hooks.LookEvery = lookEvery
	}
	if hooks.Notice == nil {
		hooks.Notice = func(string) {}
	}
	return &Nemesis{ward: newWard(target), observer: newObserver(target, hooks.LookEvery, hooks.Sampled), recorder: recorder, hooks: hooks,
		refused: make(map[string]bool), revived: make(map[string]int)}
}

// Run does the faults of a schedule and heals the cluster, whatever happens; see Nemesis.Run.
func Run(ctx context.Context, target Target, s Schedule, recorder *history.Recorder, hooks Hooks) error {
	return New(target, recorder, hooks).Run(ctx, s)
}

// Run does the faults of a schedule, each at its time, until all are over or ctx ends, and then heals. Every fault that was
// started is stopped, and both are on record. An error says what could not be healed, or what the faults brought to light that
// is in no history: that a fault could not be done is on record with it, and no error.
func (n *Nemesis) Run(ctx context.Context, s Schedule) error {
	if err := s.Validate(); err != nil {
		return err
	}
	if s.Nodes != len(n.ward.nodes) && len(s.Entries) > 0 {
		return fmt.Errorf("the schedule is for %d nodes, the cluster has %d", s.Nodes, len(n.ward.nodes))
	}
	n.began = time.Now()
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	var watchers, attacks sync.WaitGroup
	watchers.Go(func() { n.observer.run(watching) })
	watchers.Go(func() { n.tend(watching) })

	entries := slices.Clone(s.Entries)
	slices.SortStableFunc(entries, func(a, b Entry) int { return int(a.At - b.At) })
	for _, e := range entries {
		sleep(ctx, time.Until(n.began.Add(time.Duration(e.At))))
		if ctx.Err() != nil {
			break
		}
		attacks.Go(func() { n.attack(ctx, e) })
	}
	attacks.Wait()
	err := n.Heal(ctx)
	stop()
	watchers.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	return errors.Join(append(n.errs, err)...)
}

func (n *Nemesis) report(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.errs = append(n.errs, err)
}

// refuse has no more faults of a kind tried, since the place turned out not to be able to do them.
func (n *Nemesis) refuse(kind string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.refused[kind] = true
}

func (n *Nemesis) isRefused(kind string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.refused[kind]
}

// LeftOut are the nodes that stay down for good, with the reason: no files could be given to them that the others may trust.
func (n *Nemesis) LeftOut() map[string]string { return n.ward.outcasts() }
