package sim

import (
	"context"
	"sync"
	"time"

	"github.com/leasehold/leasehold/jepsen/history"
	"github.com/leasehold/leasehold/jepsen/nemesis"
)

// harms are the faults that a simulation has: all that can be done here.
var harms = []string{nemesis.Killing, nemesis.Pausing, nemesis.Partitioning, nemesis.Packets, nemesis.Disks, nemesis.Clocks, nemesis.Members}

// pairs are faults that are worse together.
var pairs = [][2]string{
	{"pause-leader", "partition-one-way"}, {"pause-leader", "transfer"}, {"partition-leader", "kill-one"}, {"transfer", "delay"},
	{"slow-disk", "kill-leader"}, {"partition-flapping", "transfer"}, {"kill-all", "partition-halves"}, {"loss", "kill-leader"},
}

// harm does faults in independent streams until ctx ends, and then heals the cluster. The error says what it could not heal.
func (p plan) harm(ctx context.Context, bed *testbed, recorder *history.Recorder) error {
	schedule, err := nemesis.Plan(p.seed, harms, nemesis.Options{
		Nodes: p.nodes, Duration: p.duration, Interval: p.interval, Overlap: p.overlap, Pairs: p.pairs, Target: bed,
	})
	if err != nil {
		return err
	}
	thin := &thinned{recorder: recorder, last: make(map[string]told)}
	err = nemesis.Run(ctx, bed, schedule, recorder, nemesis.Hooks{Sampled: thin.sampled})

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
