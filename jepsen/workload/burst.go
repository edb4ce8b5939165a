package workload

import (
	"context"
	"fmt"
	"strconv"
)

// mob bounds how many clients a burst has.
const mob = 1000

// Burst has further clients do factor times as much as Rate, on objects of their own, until ctx ends. It must end before
// the ctx of Run does.
func (c *crew) Burst(ctx context.Context, factor int) error {
	label := "burst" + strconv.FormatInt(c.bursts.Add(1), 10)
	// The namespaces of the first job are there.
	j := &job{scene: c.scene, label: label, home: c.jobs[0].home, rate: c.scene.Rate * float64(factor), clients: min(c.scene.Clients*factor, mob)}
	memory := newMemory()
	j.work(ctx, func(ctx context.Context, w *worker, _ int) {
		key := fmt.Sprintf("%s/%s-%03d", j.namespace(0), label, w.rng.IntN(population))
		if w.chance(60) {
			w.perform(ctx, key, memory, read)
			return
		}
		w.keep(ctx, key, memory)
	})
	return nil
}
