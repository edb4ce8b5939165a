package httpapi

import "sync"

// maxKeptBuffer is the largest buffer that is used again, in bytes; a list of 10,000 Leases fits.
const maxKeptBuffer = 8 << 20

// listBuffers keep the memory of lists that have been written for those to come: a list of 2,000 Leases is 1.3 MB, which
// would otherwise be taken from the system or zeroed each time, and make the garbage collector run after each few dozen. What
// is not used between two collections is let go.
type listBuffers struct {
	pool sync.Pool // of *[]byte
}

// take returns an empty buffer of some capacity, perhaps none.
func (b *listBuffers) take() []byte {
	if kept, ok := b.pool.Get().(*[]byte); ok {
		return (*kept)[:0]
	}
	return nil
}

// give takes back a buffer that nobody looks at any more.
func (b *listBuffers) give(buffer []byte) {
	if cap(buffer) <= maxKeptBuffer {
		b.pool.Put(&buffer)
	}
}
