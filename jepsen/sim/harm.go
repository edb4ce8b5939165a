package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/leasehold/leasehold/jepsen/history"
	"github.com/leasehold/leasehold/jepsen/nemesis"
)

// harm does faults in independent streams until ctx ends, and undoes them.
func (p plan) harm(ctx context.Context, bed *testbed, recorder *history.Recorder) {
	var streams sync.WaitGroup
	for i, stream := range [][]string{{"kill", "restart", "power-loss", "kill-all"}, {"partition", "halves", "one-way", "flap", "delay"}, {"slow-disk", "pause", "transfer"}} {
		streams.Go(func() {
			h := &harmer{bed: bed, recorder: recorder, rand: rand.New(rand.NewPCG(p.seed, uint64(10+i)))}
			for n := 0; h.sleep(ctx, time.Duration(h.rand.Int64N(int64(20*time.Second)))); n++ {
				h.fault(ctx, fmt.Sprintf("%d-%d", i, n), pick(h.rand, stream...))
			}
		})
	}
	streams.Wait()
}

type harmer struct {
	bed      *testbed
	recorder *history.Recorder
	rand     *rand.Rand
}

func (h *harmer) sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

func (h *harmer) fault(ctx context.Context, number, kind string) {
	nodes := h.bed.Nodes()
	order := h.rand.Perm(len(nodes))
	node := nodes[order[0]]
	fault := history.Fault{Name: kind + "-" + number, Family: kind, Nodes: []string{node}}
	h.recorder.Record(history.Event{Process: "nemesis", Type: history.Start, F: kind, Fault: &fault})
	lasting := time.Second + time.Duration(h.rand.Int64N(int64(8*time.Second)))
	var err error
	switch kind {
	case "kill", "power-loss", "kill-all", "restart":
		struck := nodes[:1+h.rand.IntN(len(nodes))]
		switch kind {
		case "kill":
			struck = []string{node}
			err = h.bed.Kill(struck...)
		case "kill-all":
			err = h.bed.Kill(struck...)
		case "power-loss":
			err = h.bed.PowerLoss(struck...)
		case "restart":
			struck = []string{node}
			err = h.bed.Stop(context.WithoutCancel(ctx), node)
		}
		h.sleep(ctx, lasting)
		for _, node := range struck {
			if e := h.bed.Start(ctx, node, nemesis.Life{}); e != nil {
				err = e
			}
		}
	case "partition", "halves", "one-way", "flap", "delay":
		c := nemesis.Condition{Drop: true}
		if kind == "delay" {
			c = nemesis.Condition{Delay: 50 * time.Millisecond, Jitter: 50 * time.Millisecond, Loss: 0.05}
		}
		var cut [][2]string
		for _, other := range append([]string{nemesis.Client}, nodes...) {
			if other == node || other == nemesis.Client && h.rand.IntN(2) == 0 {
				continue
			}
			cut = append(cut, [2]string{node, other})
			if kind != "one-way" {
				cut = append(cut, [2]string{other, node})
			}
		}
		for end := time.Now().Add(lasting); time.Now().Before(end) && ctx.Err() == nil; {
			for _, l := range cut {
				_ = h.bed.Link(l[0], l[1], c)
			}
			if kind != "flap" {
				h.sleep(ctx, time.Until(end))
				break
			}
			h.sleep(ctx, time.Second/2)
			for _, l := range cut {
				_ = h.bed.Link(l[0], l[1], nemesis.Condition{})
			}
			h.sleep(ctx, time.Second/2)
		}
		for _, l := range cut {
			_ = h.bed.Link(l[0], l[1], nemesis.Condition{})
		}
	case "slow-disk":
		_ = h.bed.Disk(node, nemesis.Disk{SyncDelay: time.Duration(h.rand.Int64N(int64(3 * time.Second)))})
		h.sleep(ctx, lasting)
		_ = h.bed.Disk(node, nemesis.Disk{})
	case "pause":
		_ = h.bed.Pause(node)
		h.sleep(ctx, lasting)
		_ = h.bed.Resume(node)
	case "transfer":
		bounded, cancel := context.WithTimeout(ctx, 5*time.Second)
		err = h.bed.Transfer(bounded, "")
		cancel()
	}
	if err != nil {
		fault.Error = err.Error()
	}
	h.recorder.Record(history.Event{Process: "nemesis", Type: history.Stop, F: kind, Fault: &fault})
}
