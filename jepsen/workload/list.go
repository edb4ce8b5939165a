package workload

import (
	"context"
	"fmt"
	"strconv"

	"github.com/leasehold/leasehold/jepsen/history"
)

// population is how many objects there are for lists.
const population = 200

// lists has half of the clients change a population of objects over three namespaces, and the other half list it in
// every way.
func lists(ctx context.Context, j *job) error {
	memory := newMemory()
	j.work(ctx, func(ctx context.Context, w *worker, number int) {
		// A list brings some hundred versions where a write brings one.
		if j.clients > 1 && number%2 == 1 || j.clients == 1 && w.chance(30) {
			w.look(ctx, j)
			return
		}
		w.keep(ctx, j.object(w.rng.IntN(population)), memory)
	})
	return nil
}

// object is the key of the n-th of a job's population.
func (j *job) object(n int) string { return fmt.Sprintf("%s/o%03d", j.namespace(n%spaces), n) }

// keep changes an object as its owner would: it makes it if it is not there, and otherwise changes it, or rarely deletes it.
func (w *worker) keep(ctx context.Context, key string, m *memory) {
	if _, known := m.current(key); !known {
		w.perform(ctx, key, m, pick(w.rng, []choice[deed]{{6, create}, {2, place}, {2, read}}...))
		return
	}
	w.perform(ctx, key, m, pick(w.rng, []choice[deed]{{12, swap}, {4, patchBlind}, {2, patchIf}, {1, remove}, {1, removeIf}, {1, again}}...))
}

// look lists in any of the ways in which one can.
func (w *worker) look(ctx context.Context, j *job) {
	request := history.Request{Key: j.namespace(w.rng.IntN(spaces)) + "/"}
	if w.chance(30) {
		request.Key = ""
	}
	if w.chance(25) {
		request.Group = fmt.Sprintf("g%d", w.rng.IntN(groups))
	} else if w.chance(10) {
		request.Key = j.object(w.rng.IntN(population))
	}
	frontier := w.scene.frontier.Load()
	switch pick(w.rng, []choice[string]{{5, "default"}, {2, "any"}, {3, "not older"}, {1, "soon"}, {3, "exact"}, {1, "exact of old"}, {3, "pages"}}...) {
	case "any":
		request.Revision, request.Match = "0", w.sometimes("NotOlderThan")
	case "not older":
		request.Revision, request.Match = text(w.recent(frontier)), w.sometimes("NotOlderThan")
	case "soon":
		request.Revision, request.Match = text(frontier+1+w.rng.Uint64N(10)), "NotOlderThan"
	case "exact":
		request.Revision, request.Match = text(w.recent(frontier)), "Exact"
	case "exact of old":
		request.Revision, request.Match = text(w.ancient(frontier)), "Exact"
	case "pages":
		w.pages(ctx, request)
		return
	}
	w.list(ctx, w.endpoint(), request, "")
}

// pages lists a page at a time, each at another node.
func (w *worker) pages(ctx context.Context, request history.Request) {
	w.count++
	request.Listing = w.name + "-list-" + strconv.Itoa(w.count)
	frontier := w.scene.frontier.Load()
	if w.chance(20) {
		request.Revision, request.Match = text(w.recent(frontier)), "Exact"
	}
	node := w.rng.IntN(len(w.scene.Endpoints))
	limit := 1 + w.rng.IntN(50)
	for token := ""; ctx.Err() == nil; request.Page++ {
		request.Limit = max(1, limit-w.rng.IntN(3))
		r := w.list(ctx, w.scene.Endpoints[(node+request.Page)%len(w.scene.Endpoints)], request, token)
		if !r.ok() || r.Continue == "" || request.Page >= maxPages {
			return
		}
		token = r.Continue
		request.Revision, request.Match = "", "" // the token has them
	}
}

// maxPages bounds a list of pages: with limit 1 nobody wants to see the end.
const maxPages = 30

// recent is a revision not long ago.
func (w *worker) recent(frontier uint64) uint64 {
	return w.between(frontier-min(frontier, 200), frontier)
}

// ancient is any revision since the run began.
func (w *worker) ancient(frontier uint64) uint64 { return w.between(w.scene.first.Load(), frontier) }

// between is a revision from low to high.
func (w *worker) between(low, high uint64) uint64 {
	low = max(1, low)
	if high <= low {
		return low
	}
	return low + w.rng.Uint64N(high-low+1)
}
