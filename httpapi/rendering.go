package httpapi

import (
	"sync"
	"sync/atomic"

	"github.com/leasehold/leasehold/fsm"
	"github.com/leasehold/leasehold/httpapi/media"
)

// renderings keeps the JSON of stored versions, so that a version is rendered once for its writer, for all who read it
// and for all who watch. Nothing else is kept: protobuf, and what a selector or a Table needs, is read off the stored
// bytes as cheaply as off any copy, and a decoded object is many small objects for the garbage collector to walk, for
// the sake of a microsecond at the next write.
//
// The bytes kept are bounded; beyond that the oldest are dropped, and made again if anyone asks. A heartbeat's JSON is
// about 650 bytes, so 100,000 Leases that have all been listed cost 65 MB, and a node that serves no reads keeps what it
// answered to its last writers. What remains with a version when its JSON is gone is 48 bytes.
type renderings struct {
	limit int

	mu    sync.Mutex // guards what follows; held for a few instructions
	queue []*rendering
	head  int // of the queue, a ring
	count int
	bytes int
}

// maxRenderings bounds the JSON kept by one door, in bytes.
const maxRenderings = 128 << 20

// rendering is what hangs on one stored version. It is in the queue exactly while it holds something.
type rendering struct {
	json atomic.Pointer[media.Rendered]
}

// of returns the JSON of a stored version. It is kept in the version of its kind in which it was first asked for.
func (r *renderings) of(kind *kind, version *fsm.Object) (media.Rendered, error) {
	kept := version.Rendering(func() any { return new(rendering) }).(*rendering)
	if rendered := kept.json.Load(); rendered != nil {
		return rendered.As(kind.Codec), nil
	}
	rendered, err := kind.stored(version).Render()
	if err != nil {
		return media.Rendered{}, err
	}
	if kept.json.CompareAndSwap(nil, &rendered) {
		r.keep(kept, len(rendered.JSON()))
	}
	return rendered, nil
}

func (r *renderings) keep(kept *rendering, size int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count == len(r.queue) {
		grown := make([]*rendering, max(1024, 2*len(r.queue)))
		n := copy(grown, r.queue[r.head:])
		copy(grown[n:], r.queue[:r.head])
		r.queue, r.head = grown, 0
	}
	r.queue[(r.head+r.count)%len(r.queue)] = kept
	r.count++
	for r.bytes += size; r.bytes > r.limit && r.count > 1; {
		oldest := r.queue[r.head]
		r.queue[r.head] = nil
		r.head = (r.head + 1) % len(r.queue)
		r.count--
		r.bytes -= len(oldest.json.Swap(nil).JSON())
	}
}
