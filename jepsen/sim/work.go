package sim

import (
	"context"

	"github.com/leasehold/leasehold/jepsen/history"
	"github.com/leasehold/leasehold/jepsen/workload"
)

// work has clients work until ctx ends, and read everything once more after that.
func (p plan) work(ctx context.Context, bed *testbed, recorder *history.Recorder) error {
	o := workload.Options{Recorder: recorder, Seed: p.seed, Rate: p.rate, Clients: p.clients, Prefix: "sim"}
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
