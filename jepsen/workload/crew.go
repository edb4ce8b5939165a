package workload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leasehold/leasehold/jepsen/history"
)

const (
	// quiet is how long after the last work and fault the end begins if a write was left without an answer: longer than any
	// server works on a request, and than the 5 s after which the checkers think so too.
	quiet = 5500 * time.Millisecond
	// ending usually bounds the end: by then a cluster that was healed has long come back.
	ending = time.Minute
)

// crew is some jobs that run side by side, and the watches of the whole store.
type crew struct {
	scene   *scene
	name    string
	jobs    []*job
	streams int // watches of the whole store on each node
	made    []string
	bursts  atomic.Int64 // that there were
}

func (c *crew) Name() string { return c.name }

// Run is the life of a workload: namespaces, watches of everything, jobs, and the end.
func (c *crew) Run(ctx context.Context) error {
	var err error
	if c.made, err = prepare(ctx, c.scene, c.namespaces()); err != nil {
		return err
	}
	observers := observe(c.scene, c.streams)
	defer observers.stop()
	observers.began(ctx)

	c.scene.first.Store(c.scene.frontier.Load())
	if err := c.work(ctx); err != nil {
		return err
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), cmp.Or(c.scene.Ending, ending))
	defer cancel()
	c.settle(end)
	observers.until(end, c.last(end))
	return nil
}

func (c *crew) work(ctx context.Context) error {
	var all sync.WaitGroup
	failures := make([]error, len(c.jobs))
	for i, j := range c.jobs {
		all.Go(func() {
			if err := j.task(ctx, j); err != nil {
				failures[i] = fmt.Errorf("workload %s: %w", j.label, err)
			}
		})
	}
	all.Wait()
	return errors.Join(failures...)
}

// settle waits until no write can take effect any more whose outcome is unknown.
func (c *crew) settle(ctx context.Context) {
	if c.scene.doubt.Load() {
		sleep(ctx, quiet)
	}
}

// last reads the whole store at each node, as it is after everything, and then makes one more write, whose revision it
// returns: who has seen that has seen all. It is 0 if the cluster did not come back.
func (c *crew) last(ctx context.Context) uint64 {
	w := c.scene.worker("final")
	for _, e := range c.scene.Endpoints {
		for !w.list(ctx, e, history.Request{}, "").ok() && sleep(ctx, time.Second/2) {
		}
	}
	for ctx.Err() == nil {
		for _, e := range c.scene.Endpoints {
			id := w.next()
			r := w.create(ctx, e, content{Key: c.jobs[0].namespace(0) + "/" + id, ID: id, Holder: w.name})
			if r.ok() && r.version().Revision > 0 {
				return r.version().Revision
			}
		}
		sleep(ctx, time.Second/2)
	}
	return 0
}

func (c *crew) namespaces() []string {
	var all []string
	for _, j := range c.jobs {
		for n := range spaces {
			all = append(all, j.namespace(n))
		}
	}
	return all
}

// Cleanup deletes all objects in the workload's namespaces, and those of the namespaces that it made.
func (c *crew) Cleanup(ctx context.Context) error { return clean(ctx, c.scene, c.namespaces(), c.made) }
