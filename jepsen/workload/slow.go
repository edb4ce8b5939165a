package workload

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/leasehold/leasehold/jepsen/history"
)

const (
	// standstill is for how long a slow reader reads nothing.
	standstill = 5 * time.Second
	// heavy is how many heavy objects there are, each changed by a client of its own, heaves times in a standstill at most:
	// enough in all to fill what the system has for a connection and a proxy's two, and not so much as to be a fault of its own.
	heavy  = 4
	heaves = 15
)

// slow watches everything at some node, and stops in the middle of it. Meanwhile it has heavy objects change until more was
// sent than lies in the buffers between the server and itself, some megabytes: a server that then drops what it cannot send, and
// goes on, is found out.
func slow(ctx context.Context, j *job) {
	reader := j.scene.worker(j.label + "-slow")
	var loaders []*worker
	for n := range heavy {
		loaders = append(loaders, j.scene.worker(fmt.Sprintf("%s-load-%d", j.label, n)))
	}
	for ctx.Err() == nil {
		events, last := 0, uint64(0)
		s := stream{Request: history.Request{Revision: text(max(1, j.frontier.Load())), Bookmark: true}, Timeout: time.Minute, Idle: 15 * time.Second, Narrow: true}
		s.Each = func(c *history.Change) bool {
			if events++; events == 5 {
				load(ctx, j, loaders)
				last = j.frontier.Load()
			}
			return ctx.Err() == nil && (last == 0 || reached(c, false) < last)
		}
		reader.watch(ctx, reader.endpoint(), s)
		sleep(ctx, j.SlowEvery+time.Duration(5+reader.rng.IntN(10))*time.Second)
	}
}

// load has heavy objects change for as long as a standstill lasts. What it sends is small, what watches are sent is not.
func load(ctx context.Context, j *job, loaders []*worker) {
	ctx, cancel := context.WithTimeout(ctx, standstill)
	defer cancel()
	var all sync.WaitGroup
	for n, w := range loaders {
		key := fmt.Sprintf("%s/%s%d", j.namespace(0), fat, n)
		all.Go(func() {
			pace := newPacer(standstill/2/heaves, w.rng)
			for range heaves {
				c := content{Key: key, ID: w.next(), Holder: w.name, Weight: j.Weight}
				if r := w.patch(ctx, w.endpoint(), c, mergePatch, false); r.Answer.Code == 404 {
					c.ID = w.next()
					w.create(ctx, w.endpoint(), c)
				}
				if !pace.wait(ctx) {
					return
				}
			}
		})
	}
	all.Wait()
	sleep(ctx, standstill)
}
