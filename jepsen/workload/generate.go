package workload

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/leasehold/leasehold/jepsen/history"
)

const (
	// generated is how many objects with names by the server there are at most, and reborn how many names are deleted
	// and made again all the time.
	generated = 100
	reborn    = 20
)

// generate does what cannot be done twice unnoticed: it makes objects whose names the server chooses, and deletes objects
// without any precondition while others make them again.
func generate(ctx context.Context, j *job) error {
	pool := &pool{}
	memory := newMemory()
	j.work(ctx, func(ctx context.Context, w *worker, _ int) {
		named := fmt.Sprintf("%s/n%02d", j.namespace(1), w.rng.IntN(reborn))
		switch what := pick(w.rng, []choice[string]{{5, "generate"}, {3, "delete generated"}, {3, "create"}, {3, "delete"}, {1, "get"}}...); {
		case what == "create":
			w.perform(ctx, named, memory, create)
		case what == "delete":
			w.perform(ctx, named, memory, remove)
		case what == "get":
			w.perform(ctx, named, memory, read)
		case what == "generate" && pool.len() < generated:
			id := w.next()
			r := w.create(ctx, w.endpoint(), content{Key: j.namespace(0) + "/", Prefix: "made-", ID: id, Holder: w.name, Group: "g0"})
			pool.add(r.version())
		default:
			// Whose creation was left unknown is deleted by nobody, so the pool's bound is one of objects as long as that is rare.
			if v, ok := pool.take(w.rng.IntN(generated)); ok {
				w.remove(ctx, w.endpoint(), v.Key, "", "")
			}
		}
	})
	return nil
}

// pool is of objects that were made and not deleted.
type pool struct {
	mu  sync.Mutex // guards all
	all []history.Version
}

func (p *pool) len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.all)
}

func (p *pool) add(v history.Version) {
	if v.Revision == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, v)
}

func (p *pool) take(n int) (history.Version, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.all) == 0 {
		return history.Version{}, false
	}
	n %= len(p.all)
	v := p.all[n]
	p.all = slices.Delete(p.all, n, n+1)
	return v, true
}
