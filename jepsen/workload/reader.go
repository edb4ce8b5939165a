package workload

import (
	"hash/maphash"
	"sync"

	"github.com/leasehold/leasehold/jepsen/history"
)

// remembered is how many objects a reader remembers at least, of up to twice as many.
const remembered = 20_000

// reader reads objects. All watches are sent each change, and lists the same objects again and again, so it remembers
// what it read in bytes that were the same: reading them costs more than all else that clients do.
type reader struct {
	seed maphash.Seed

	mu       sync.Mutex // guards what follows
	now, old map[uint64]reading
}

type reading struct {
	version   history.Version // its Elements are shared and never changed
	malformed string
}

func newReader() *reader { return &reader{seed: maphash.MakeSeed(), now: make(map[uint64]reading)} }

// version is as the function version.
func (r *reader) version(raw []byte) (history.Version, string) {
	sum := maphash.Bytes(r.seed, raw)
	if known, ok := r.recall(sum); ok {
		return known.version, known.malformed
	}
	v, malformed := version(raw)
	r.keep(sum, reading{v, malformed})
	return v, malformed
}

func (r *reader) recall(sum uint64) (reading, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.now[sum]
	if !ok {
		known, ok = r.old[sum]
	}
	return known, ok
}

func (r *reader) keep(sum uint64, known reading) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now[sum] = known
	if len(r.now) >= remembered {
		r.old, r.now = r.now, make(map[uint64]reading)
	}
}
