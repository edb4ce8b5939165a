package workload

import (
	"math/rand/v2"
	"strconv"
	"sync"

	"github.com/leasehold/leasehold/jepsen/history"
)

// memory is what a job's workers were told of their objects, by each other: what a cache would hold, and as little sure
// to be current.
type memory struct {
	mu     sync.Mutex // guards what follows
	latest map[string]history.Version
	past   map[string][]history.Version // by key, the last few before the latest, in the order of their arrival
}

// pastKept is how many old versions of an object are kept to be used in vain.
const pastKept = 8

func newMemory() *memory {
	return &memory{latest: make(map[string]history.Version), past: make(map[string][]history.Version)}
}

// note takes a version to account if it is newer.
func (m *memory) note(v history.Version) {
	if v.Revision == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	current, known := m.latest[v.Key]
	if known && current.Revision >= v.Revision {
		return
	}
	m.latest[v.Key] = v
	if known {
		m.past[v.Key] = append(m.past[v.Key], current)
		if len(m.past[v.Key]) > pastKept {
			m.past[v.Key] = m.past[v.Key][1:]
		}
	}
}

// forget is told that an object is gone, of the uid given if one is.
func (m *memory) forget(key, uid string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	current, known := m.latest[key]
	if !known || uid != "" && current.UID != uid {
		return
	}
	delete(m.latest, key)
	m.past[key] = append(m.past[key], current)
	if len(m.past[key]) > pastKept {
		m.past[key] = m.past[key][1:]
	}
}

// drop forgets a key for good.
func (m *memory) drop(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.latest, key)
	delete(m.past, key)
}

// current is the newest version known, if the object is thought to be there.
func (m *memory) current(key string) (history.Version, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.latest[key]
	return v, ok
}

// former is a version that is not the newest, if one is known.
func (m *memory) former(key string, rng *rand.Rand) (history.Version, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	past := m.past[key]
	if len(past) == 0 {
		return history.Version{}, false
	}
	return past[rng.IntN(len(past))], true
}

// learn takes the outcome of an operation on a key to account.
func (m *memory) learn(f, key string, r result) {
	switch {
	case r.ok() && f == history.Delete:
		m.forget(key, r.version().UID)
	case r.ok() && r.Answer.Version != nil:
		m.note(*r.Answer.Version)
	case r.Answer.Code == 404:
		m.forget(key, "")
	}
}

func text(revision uint64) string { return strconv.FormatUint(revision, 10) }
