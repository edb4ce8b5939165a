package httpapi

import (
	"sync/atomic"

	"github.com/leasehold/leasehold/fsm"
)

// listBudget bounds the memory of all lists that are being answered at one time. Their number alone is no bound: a list of
// 20,000 objects is 10 MiB, and stays in memory until its client has taken it.
type listBudget struct {
	limit int64 // bytes
	held  atomic.Int64
}

// DefaultMaxListBytes is the default of Config.MaxListBytes.
const DefaultMaxListBytes = 512 << 20

// estimate is roughly what a list of these objects costs in its largest form, in bytes.
func estimate(objects []*fsm.Object) (bytes int64) {
	for _, object := range objects {
		bytes += 256 + 3*int64(len(object.Data))
	}
	return bytes
}

// take counts a request's list in, or refuses it with errTooManyRequests. A list larger than all of the budget is answered when
// there is no other. The pipeline calls give when the request is answered.
func (b *listBudget) take(q *request, bytes int64) error {
	if held := b.held.Add(bytes); held > b.limit && held > bytes {
		b.held.Add(-bytes)
		return errTooManyRequests
	}
	q.held += bytes
	return nil
}

// give ends what take began.
func (b *listBudget) give(q *request) {
	if q.held != 0 {
		b.held.Add(-q.held)
	}
}
