package jepsen

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/leasehold/leasehold/jepsen/history"
	"github.com/leasehold/leasehold/jepsen/nemesis"
)

const (
	// sampleEvery is how often each node is asked about itself.
	sampleEvery = 500 * time.Millisecond
	// levelWithin is how long nodes usually have, once all is quiet, until they have applied the same.
	levelWithin = 30 * time.Second
)

// sampler asks all nodes about themselves and records what they say.
type sampler struct {
	target   nemesis.Target
	recorder *history.Recorder
}

// run samples until ctx ends.
func (s sampler) run(ctx context.Context) {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		s.round(ctx, false, nil)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// round asks each node that is not left out once, all at the same time.
func (s sampler) round(ctx context.Context, final bool, leftOut map[string]string) []history.Sample {
	nodes := slices.DeleteFunc(s.target.Nodes(), func(node string) bool { return leftOut[node] != "" })
	samples := make([]history.Sample, len(nodes))
	var all sync.WaitGroup
	for i, node := range nodes {
		all.Go(func() {
			sample, err := s.target.Sample(ctx, node)
			if err != nil {
				sample = history.Sample{Error: err.Error()}
			}
			sample.Final = final
			samples[i] = sample
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return samples // answers cut short say nothing of the nodes
	}
	for i, node := range nodes {
		s.recorder.Record(history.Event{Process: "sampler", Type: history.Probe, Node: node, Sample: &samples[i]})
	}
	return samples
}

// level waits until all nodes but those that are left out say that they have applied the same. Clients must be quiet. The
// last samples are recorded as final: the checkers judge them.
func (s sampler) level(ctx context.Context, within time.Duration, leftOut map[string]string) {
	wait, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for !isLevel(s.round(wait, false, leftOut)) && wait.Err() == nil {
		select {
		case <-wait.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
	s.round(ctx, true, leftOut)
}

func isLevel(samples []history.Sample) bool {
	for _, s := range samples {
		if s.Error != "" || s.Revision != samples[0].Revision || s.Hash != samples[0].Hash || !s.Ready {
			return false
		}
	}
	return true
}
