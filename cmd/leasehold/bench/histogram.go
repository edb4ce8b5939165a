package bench

import (
	"math/bits"
	"time"
)

// Values below 2^subBits nanoseconds have a bucket each; above, each power of two is cut into 2^subBits equal parts.
// A value is told back with less than 1/2^subBits of it as error: under 0.8 %.
const subBits = 7

// histogram counts durations in log-linear buckets. One goroutine at a time uses it.
type histogram struct {
	counts [(64 - subBits) << subBits]uint64
	count  uint64
	sum    time.Duration
	max    time.Duration
}

func bucketOf(v uint64) int {
	if v < 1<<subBits {
		return int(v)
	}
	shift := bits.Len64(v) - 1 - subBits
	return shift<<subBits + int(v>>shift)
}

// valueOf returns the middle of a bucket.
func valueOf(bucket int) uint64 {
	if bucket < 2<<subBits {
		return uint64(bucket)
	}
	shift := bucket>>subBits - 1
	low := uint64(bucket-shift<<subBits) << shift
	return low + 1<<shift/2
}

func (h *histogram) record(d time.Duration) {
	d = max(d, 0)
	h.counts[bucketOf(uint64(d))]++
	h.count++
	h.sum += d
	h.max = max(h.max, d)
}

func (h *histogram) merge(other *histogram) {
	for i, n := range other.counts {
		h.counts[i] += n
	}
	h.count += other.count
	h.sum += other.sum
	h.max = max(h.max, other.max)
}

// quantile returns the smallest recorded duration that a share q of all are not above, or 0 of none.
func (h *histogram) quantile(q float64) time.Duration {
	if h.count == 0 {
		return 0
	}
	rank := uint64(q * float64(h.count))
	if float64(rank) < q*float64(h.count) {
		rank++
	}
	rank = min(max(rank, 1), h.count)
	var seen uint64
	for bucket, n := range h.counts {
		seen += n
		if seen >= rank {
			return min(time.Duration(valueOf(bucket)), h.max)
		}
	}
	return h.max
}
