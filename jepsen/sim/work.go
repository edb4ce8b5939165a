package sim

import (
	"context"
	"time"

	"github.com/leasehold/leasehold/jepsen/history"
	"github.com/leasehold/leasehold/jepsen/workload"
)

// slowEvery makes the reader that stops, whose objects are heavy, cost no more than all else.
const slowEvery = 10 * time.Minute

// weight is enough to fill a window many times while that reader stands still.
const weight = window / 8

// elections are slower than usual: candidates, who ask again and again, would do more than all other clients together.
var elections = workload.Timing{LeaseDuration: 20 * time.Second, RenewDeadline: 12 * time.Second, RetryPeriod: 3 * time.Second, Timeout: 3 * time.Second}

// work has clients work until ctx ends, and read everything once more after that.
func (p plan) work(ctx context.Context, bed *testbed, recorder *history.Recorder) error {
	o := workload.Options{Recorder: recorder, Seed: p.seed, Rate: p.rate, Clients: p.clients, Prefix: "sim", SlowEvery: slowEvery, Weight: weight, Elections: elections}
	for _, node := range bed.nodes {
		client := bed.client(node)
		if p.tamper != nil {
			client.Transport = p.tamper(node, client.Transport)
		}
		o.Endpoints = append(o.Endpoints, workload.Endpoint{Node: node, URL: "http://" + node, Client: client})
	}
	w, err := workload.New(o, p.workloads...)
	if err != nil {
		return err
	}
	return w.Run(ctx)
}
