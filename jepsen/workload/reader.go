package workload

import (
	"encoding/json"
	"hash/maphash"
	"sync"

	"github.com/leasehold/leasehold/jepsen/history"
)

// reader reads objects and changes. All watches are sent each change, and lists the same objects again and again, so it
// remembers what it read in bytes that were the same: reading them costs more than all else that clients do.
type reader struct {
	seed    maphash.Seed
	objects recent[reading]
	changes recent[history.Change]
}

type reading struct {
	version   history.Version // its Elements are shared and never changed
	malformed string
}

func newReader() *reader { return &reader{seed: maphash.MakeSeed()} }

// version is as the function version.
func (r *reader) version(raw []byte) (history.Version, string) {
	sum := maphash.Bytes(r.seed, raw)
	if known, ok := r.objects.recall(sum); ok {
		return known.version, known.malformed
	}
	v, malformed := version(raw)
	r.objects.keep(sum, reading{v, malformed})
	return v, malformed
}

// change reads a frame of a stream. What the change points to is shared and never changed. An error says that it is none.
func (r *reader) change(raw []byte) (history.Change, error) {
	sum := maphash.Bytes(r.seed, raw)
	if known, ok := r.changes.recall(sum); ok {
		return known, nil
	}
	var f frame
	if err := json.Unmarshal(raw, &f); err != nil {
		return history.Change{}, err
	}
	c := f.change()
	r.changes.keep(sum, c)
	return c, nil
}

// remembered is how many things are remembered at least, of up to twice as many.
const remembered = 20_000

// recent remembers what was kept last. The zero value remembers nothing yet.
type recent[T any] struct {
	mu       sync.Mutex // guards what follows
	now, old map[uint64]T
}

func (r *recent[T]) recall(sum uint64) (T, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.now[sum]
	if !ok {
		known, ok = r.old[sum]
	}
	return known, ok
}

func (r *recent[T]) keep(sum uint64, known T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.now) >= remembered || r.now == nil {
		r.old, r.now = r.now, make(map[uint64]T)
	}
	r.now[sum] = known
}
