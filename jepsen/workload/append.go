package workload

import (
	"context"
	"fmt"

	"github.com/leasehold/leasehold/jepsen/history"
)

// elements is how many elements an object gets at most.
const elements = 60

// appends has crowds of clients append elements to objects, each element once: by reading and then writing all of them on
// condition of the version, and by a patch that the server appends, which done twice shows.
func appends(ctx context.Context, j *job) error {
	memory := newMemory()
	keys := make([]*keyRing, (j.clients+crowd-1)/crowd)
	for i := range keys {
		keys[i] = &keyRing{prefix: fmt.Sprintf("%s/a%d-", j.namespace(i%spaces), i), memory: memory}
	}
	j.work(ctx, func(ctx context.Context, w *worker, number int) {
		w.append(ctx, keys[number/crowd], memory)
	})
	return nil
}

// append appends an element to an object, or only reads it. A full object is left for good.
func (w *worker) append(ctx context.Context, keys *keyRing, m *memory) {
	key := keys.key(w)
	e := w.endpoint()
	seen, known := m.current(key)
	if len(seen.Elements) >= elements {
		keys.retire(key)
		return
	}
	element := w.next()
	next := content{Key: key, ID: element, Holder: w.name, Group: seen.Group, Transitions: seen.Transitions}
	switch {
	case !known:
		next.Group = "g0"
		next.Elements = []string{element}
		m.learn(history.Create, key, w.create(ctx, e, next))
		if !w.chance(50) {
			return
		}
		m.learn(history.Get, key, w.get(ctx, w.endpoint(), key))
	case w.chance(30):
		m.learn(history.Get, key, w.get(ctx, e, key))
	case w.chance(50):
		next.Group = "" // as it is
		if w.chance(20) {
			next.Revision = text(seen.Revision)
		}
		m.learn(history.Patch, key, w.push(ctx, e, next, element))
	default:
		if w.chance(70) {
			if r := w.get(ctx, e, key); r.version().Revision > 0 {
				seen = r.version()
			}
		}
		next.Revision = text(seen.Revision)
		next.Elements = append(append([]string(nil), seen.Elements...), element)
		m.learn(history.Update, key, w.update(ctx, w.endpoint(), next, false, true))
	}
}
