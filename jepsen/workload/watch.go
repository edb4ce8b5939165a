package workload

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/leasehold/leasehold/jepsen/history"
)

// churned objects are fewer than listed ones, so that each changes often.
const churned = 60

// watches has the clients change objects, which move between groups, while as many again watch them in every way and go from
// node to node.
func watches(ctx context.Context, j *job) error {
	memory := newMemory()
	var all sync.WaitGroup
	for number := range j.clients {
		churner := &churner{job: j, worker: j.scene.worker(fmt.Sprintf("%s-churner-%d", j.label, number))}
		all.Go(func() { churner.run(ctx) })
	}
	all.Go(func() { slow(ctx, j) })
	j.work(ctx, func(ctx context.Context, w *worker, number int) {
		w.keep(ctx, j.object(w.rng.IntN(churned)), memory)
	})
	all.Wait()
	return nil
}

// churner watches one thing for a while, and then goes on, or watches another, at another node.
type churner struct {
	*worker
	job   *job
	scope history.Request // what it watches: Key and Group
	last  uint64          // up to where it has seen that, 0 if not at all
}

// start is a way to begin a watch.
type start int

const (
	onward     start = iota // from where it was
	backward                // from some time since the beginning of the run
	ahead                   // from the future
	listed                  // from a list, as informers do
	streamed                // with initial events, which replace the list
	streamedAt              // with initial events of a state not older than some revision
	cached                  // with initial events from any state
	now                     // without any revision
	zero                    // with revision 0
)

func (c *churner) run(ctx context.Context) {
	for ctx.Err() == nil {
		how := pick(c.rng, []choice[start]{{8, onward}, {3, backward}, {2, ahead}, {4, listed}, {3, streamed}, {1, streamedAt}, {1, cached}, {1, now}, {1, zero}}...)
		if how != onward || c.last == 0 {
			c.turn()
		}
		c.once(ctx, how)
		sleep(ctx, time.Duration(c.rng.Int64N(int64(c.job.rest()))))
	}
}

// rest is the longest time between two watches of one client, which is longer where the job's rate is low.
func (j *job) rest() time.Duration {
	every := time.Duration(float64(j.clients) / j.rate * float64(time.Second))
	return min(max(every, time.Second/2), 4*time.Second)
}

// turn chooses something else to watch.
func (c *churner) turn() {
	c.last = 0
	c.scope = history.Request{}
	switch pick(c.rng, []choice[string]{{3, "all"}, {4, "namespace"}, {3, "group"}, {2, "group everywhere"}, {2, "name"}}...) {
	case "namespace":
		c.scope.Key = c.job.namespace(c.rng.IntN(spaces)) + "/"
	case "group":
		c.scope.Key = c.job.namespace(c.rng.IntN(spaces)) + "/"
		c.scope.Group = fmt.Sprintf("g%d", c.rng.IntN(groups))
	case "group everywhere":
		c.scope.Group = fmt.Sprintf("g%d", c.rng.IntN(groups))
	case "name":
		c.scope.Key = c.job.object(c.rng.IntN(churned))
	}
}

// once watches at some node, until the server or the client has had enough.
func (c *churner) once(ctx context.Context, how start) {
	e := c.endpoint()
	s := stream{Request: c.scope, Timeout: time.Duration(1+c.rng.IntN(20)) * time.Second, Idle: 10 * time.Second}
	s.Bookmark = c.chance(70)
	frontier := c.scene.frontier.Load()
	switch how {
	case onward:
		s.Revision = text(max(c.last, 1))
		if c.last == 0 {
			s.Revision = text(max(frontier, 1))
		}
	case backward:
		s.Revision = text(c.ancient(frontier))
	case ahead:
		s.Revision = text(frontier + 1 + c.rng.Uint64N(50))
	case listed:
		l := c.list(ctx, e, c.scope, "")
		if !l.ok() || l.Answer.Revision == 0 {
			return
		}
		c.last = l.Answer.Revision
		s.Revision = text(c.last)
		e = c.endpoint()
	case streamed, streamedAt, cached:
		s.Initial, s.Bookmark, s.Match = true, true, "NotOlderThan"
		if how == streamedAt {
			s.Revision = text(c.recent(frontier))
		} else if how == cached {
			s.Revision = "0"
		}
	case zero:
		s.Revision = "0"
	}
	c.follow(ctx, e, s)
}

// follow watches for some events or seconds. Now and then it stops reading in the middle of it.
func (c *churner) follow(ctx context.Context, e Endpoint, s stream) {
	synthetic := s.Initial || s.Revision == "" || s.Revision == "0"
	enough := 1 + c.rng.IntN(200)
	stall := -1
	if c.chance(15) {
		stall = c.rng.IntN(20)
		enough += 1000 // what was missed meanwhile it should read
		s.Narrow, s.Timeout = true, time.Minute
	}
	events := 0
	s.Each = func(change *history.Change) bool {
		if change.InitialEnd {
			synthetic = false
		}
		c.last = max(c.last, reached(change, synthetic))
		events++
		if events == stall {
			return sleep(ctx, time.Duration(4+c.rng.IntN(10))*time.Second)
		}
		return events < enough
	}
	if end := c.watch(ctx, e, s); !end.Opened || end.Reason == history.EndedByError {
		c.last = 0 // from there nothing goes on
	}
}
