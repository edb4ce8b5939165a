package sim

import (
	"context"
	"sync"
	"time"

	"github.com/leasehold/leasehold/jepsen/history"
	"github.com/leasehold/leasehold/jepsen/nemesis"
)

// harms are the faults that a simulation has: all that can be done here and mean something. The limits on logs are low
// without snapshot pressure.
var harms = []string{
	"kill-one", "kill-leader", "kill-minority", "kill-majority", "kill-all", "rolling-restart",
	"pause-one", "pause-leader", "pause-majority", "pause-all",
	"partition-leader", "partition-one", "partition-halves", "partition-ring", "partition-one-way", "partition-flapping",
	"partition-client", "swizzle", "reset", "delay", "loss",
	"slow-disk", "disk-error", "disk-full", "power-loss-one", "power-loss-all", "wipe", "clock-rate", "transfer",
}

// pairs are faults that are worse together.
var pairs = [][2]string{
	{"pause-leader", "partition-one-way"}, {"pause-leader", "transfer"}, {"partition-leader", "kill-one"}, {"transfer", "delay"},
	{"slow-disk", "kill-leader"}, {"partition-flapping", "transfer"}, {"kill-all", "partition-halves"}, {"loss", "kill-leader"},
}

// harm does faults in independent streams until ctx ends, and then heals the cluster. The error says what it could not heal.
func (p plan) harm(ctx context.Context, bed *testbed, recorder *history.Recorder) error {
	schedule, err := nemesis.Plan(p.seed, p.kinds, nemesis.Options{
		Nodes: p.nodes, Duration: p.duration, Interval: p.interval, Overlap: p.overlap, Pairs: p.pairs, Target: bed,
	})
	if err != nil {
		return err
	}
	thin := &thinned{recorder: recorder, last: make(map[string]told)}
	err = nemesis.Run(ctx, bed, schedule, recorder, nemesis.Hooks{Sampled: thin.sampled, LookEvery: lookEvery})

	return err
}

// thinned records of the samples of nodes those that tell something new.
type thinned struct {
	recorder *history.Recorder

	mu   sync.Mutex // guards last
	last map[string]told
}

// told is what a node last told and when.
type told struct {
	history.Sample
	at time.Time
}

// lookEvery is how often nodes are asked about themselves: often enough to see nearly every election.
const lookEvery = 2 * time.Second

// tellEvery is how often what is not new is recorded all the same.
const tellEvery = 30 * time.Second

func (t *thinned) sampled(node string, s history.Sample) {
	t.mu.Lock()
	last := t.last[node]
	same := last.Role == s.Role && last.Leader == s.Leader && last.Term == s.Term && last.Ready == s.Ready && last.Error == s.Error
	now := time.Now()
	if same && s.Hash == "" && now.Sub(last.at) < tellEvery {
		t.mu.Unlock()
		return
	}
	t.last[node] = told{s, now}
	t.mu.Unlock()
	t.recorder.Record(history.Event{Process: nemesis.Prober, Type: history.Probe, Node: node, Sample: &s})
}
