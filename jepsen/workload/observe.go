package workload

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/leasehold/leasehold/jepsen/history"
)

// observers watch the whole store on every node for the whole run, each going on from the revision that it reached. What
// they see is the evidence for what became of writes without an answer, and itself judged as what watches show.
type observers struct {
	cancel context.CancelFunc
	all    sync.WaitGroup
	each   []*observer
}

type observer struct {
	w        *worker
	node     Endpoint
	began    chan struct{} // closed once it knows a revision to watch from
	begin    sync.Once
	mu       sync.Mutex
	revision uint64        // guarded by mu: all up to it was seen
	moved    chan struct{} // guarded by mu: closed when revision rises
}

// observe starts n watches of the whole store on each node.
func observe(s *scene, n int) *observers {
	ctx, cancel := context.WithCancel(context.Background())
	o := &observers{cancel: cancel}
	for _, e := range s.Endpoints {
		for i := range n {
			o.each = append(o.each, &observer{w: s.worker(fmt.Sprintf("observer-%s-%d", e.Node, i)), node: e,
				began: make(chan struct{}), moved: make(chan struct{})})
		}
	}
	for _, each := range o.each {
		o.all.Go(func() { each.run(ctx) })
	}
	return o
}

// began waits until all have a revision to watch from, but not long: a node may be down from the beginning.
func (o *observers) began(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	for _, each := range o.each {
		select {
		case <-each.began:
		case <-ctx.Done():
			return
		}
	}
}

// until waits until all have seen everything up to a revision.
func (o *observers) until(ctx context.Context, revision uint64) {
	for _, each := range o.each {
		for {
			at, moved := each.position()
			if at >= revision {
				break
			}
			select {
			case <-moved:
			case <-ctx.Done():
				return
			}
		}
	}
}

// stop ends all and waits for them.
func (o *observers) stop() {
	o.cancel()
	o.all.Wait()
}

func (o *observer) position() (uint64, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.revision, o.moved
}

func (o *observer) reach(revision uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if revision > o.revision {
		o.revision = revision
		close(o.moved)
		o.moved = make(chan struct{})
	}
}

// run lists and watches, and watches again from where it was, until ctx ends. Where history is gone it lists anew. A node
// that does not let it is asked less often the longer that goes on.
func (o *observer) run(ctx context.Context) {
	listed := false
	for refused := 0; ctx.Err() == nil; refused++ {
		if !listed {
			l := o.w.list(ctx, o.node, history.Request{}, "")
			if l.ok() && l.Answer.Revision > 0 {
				listed = true
				o.reach(l.Answer.Revision)
				o.begin.Do(func() { close(o.began) })
			}
		}
		if listed {
			end := o.watch(ctx)
			listed = end.Code != http.StatusGone
			if end.Opened || !listed {
				refused = 0
			}
		}
		sleep(ctx, time.Duration(o.w.rng.IntN(int(time.Second/2)<<min(refused/2, 2))))
	}
}

// watch goes on from the revision reached.
func (o *observer) watch(ctx context.Context) watched {
	from, _ := o.position()
	return o.w.watch(ctx, o.node, stream{
		Request: history.Request{Revision: text(from), Bookmark: true},
		Timeout: time.Duration(60+o.w.rng.IntN(60)) * time.Second,
		Idle:    15 * time.Second,
		Each: func(c *history.Change) bool {
			o.reach(reached(c, false))
			return true
		},
	})
}
