package workload

import (
	"context"
	"fmt"
	"sync"

	"github.com/leasehold/leasehold/jepsen/history"
)

const (
	// crowd is how many workers share a key, and lifetime how many operations a key lives for at most: what a general checker
	// of linearizability can bear.
	crowd    = 5
	lifetime = 1000
)

// register has small crowds of clients do everything that can be done to one object, half of what depends on a version
// with one that is out of date.
func register(ctx context.Context, j *job) error {
	memory := newMemory()
	keys := make([]*keyRing, (j.clients+crowd-1)/crowd)
	for i := range keys {
		keys[i] = &keyRing{prefix: fmt.Sprintf("%s/r%d-", j.namespace(i%spaces), i), memory: memory}
	}
	j.work(ctx, func(ctx context.Context, w *worker, number int) {
		w.touch(ctx, keys[number/crowd].key(w), memory)
	})
	return nil
}

// keyRing is a name after the other, each used for so many operations and then no more.
type keyRing struct {
	prefix string
	memory *memory

	mu     sync.Mutex // guards what follows
	number int
	left   int
}

func (k *keyRing) key(w *worker) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.left == 0 {
		k.memory.drop(fmt.Sprint(k.prefix, k.number))
		k.number++
		k.left = lifetime/4 + w.rng.IntN(lifetime*3/4)
	}
	k.left--
	return fmt.Sprint(k.prefix, k.number)
}

// retire gives a key up before its time.
func (k *keyRing) retire(key string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if key == fmt.Sprint(k.prefix, k.number) {
		k.left = 0
	}
}

// deed is a way to treat an object.
type deed int

const (
	read deed = iota
	create
	swap       // PUT with a version
	place      // PUT without
	patchBlind // PATCH without precondition
	patchIf    // with a version
	patchOf    // with a uid
	remove
	removeIf // with a version
	removeOf // with a uid
	again    // what is there already, with its version
)

// touch does something to an object, at any node.
func (w *worker) touch(ctx context.Context, key string, m *memory) {
	w.perform(ctx, key, m, pick(w.rng, []choice[deed]{{30, read}, {8, create}, {25, swap}, {6, place}, {7, patchBlind}, {6, patchIf}, {2, patchOf},
		{5, remove}, {4, removeIf}, {2, removeOf}, {5, again}}...))
}

// perform does one deed. What needs a version that is not known is a read instead.
func (w *worker) perform(ctx context.Context, key string, m *memory, what deed) {
	e := w.endpoint()
	seen, known := m.current(key)
	if old, ok := m.former(key, w.rng); ok && what != again && w.chance(50) {
		seen, known = old, true
	}
	if !known && what != create && what != place && what != patchBlind && what != remove {
		what = read
	}
	next := w.fill(key, seen)
	switch what {
	case read:
		m.learn(history.Get, key, w.get(ctx, e, key))
	case create:
		next.Elements = nil
		m.learn(history.Create, key, w.create(ctx, e, next))
	case swap:
		next.Revision = text(seen.Revision)
		if w.chance(30) {
			next.UID = seen.UID
		}
		m.learn(history.Update, key, w.update(ctx, e, next, false, false))
	case place:
		m.learn(history.Put, key, w.update(ctx, e, next, false, false))
	case patchIf:
		next.Revision = text(seen.Revision)
		m.learn(history.Patch, key, w.patch(ctx, e, next, w.media(), false))
	case patchOf:
		next.UID = seen.UID
		m.learn(history.Patch, key, w.patch(ctx, e, next, w.media(), false))
	case patchBlind:
		m.learn(history.Patch, key, w.patch(ctx, e, next, w.media(), false))
	case remove:
		m.learn(history.Delete, key, w.remove(ctx, e, key, "", ""))
	case removeIf:
		m.learn(history.Delete, key, w.remove(ctx, e, key, w.sometimes(seen.UID), text(seen.Revision)))
	case removeOf:
		m.learn(history.Delete, key, w.remove(ctx, e, key, seen.UID, ""))
	case again:
		if w.chance(50) {
			m.learn(history.Update, key, w.update(ctx, e, same(seen), true, false))
		} else {
			m.learn(history.Patch, key, w.patch(ctx, e, same(seen), w.media(), true))
		}
	}
}

// groups are how many values the label has.
const groups = 4

// fill makes new content for an object: another write's ID, another holder, now and then another group.
func (w *worker) fill(key string, seen history.Version) content {
	c := content{Key: key, ID: w.next(), Group: seen.Group, Holder: w.name, Transitions: seen.Transitions + 1}
	if c.Group == "" || w.chance(25) {
		c.Group = fmt.Sprintf("g%d", w.rng.IntN(groups))
	}
	return c
}

func (w *worker) media() string {
	return pick(w.rng, []choice[string]{{2, mergePatch}, {1, strategicPatch}, {1, jsonPatch}}...)
}

// sometimes is the text or nothing.
func (w *worker) sometimes(s string) string {
	if w.chance(50) {
		return s
	}
	return ""
}
