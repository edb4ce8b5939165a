package bench

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestEveryDurationFallsIntoABucketThatTellsItBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Uint64Range(0, math.MaxInt64).Draw(t, "v")
		bucket := bucketOf(v)
		if bucket < 0 || bucket >= len(histogram{}.counts) {
			t.Fatalf("bucket %d of %d", bucket, v)
		}
		told := valueOf(bucket)
		if bucketOf(told) != bucket {
			t.Fatalf("%d is told as %d, which lies in another bucket", v, told)
		}
		if off := math.Abs(float64(told) - float64(v)); off > float64(v)/(1<<subBits) {
			t.Fatalf("%d is told as %d", v, told)
		}
	})
}

func TestBucketsGrowWithTheirValues(t *testing.T) {
	last := -1
	for v := uint64(0); v < 1<<20; v++ {
		bucket := bucketOf(v)
		if bucket != last && bucket != last+1 {
			t.Fatalf("bucket %d follows bucket %d at %d", bucket, last, v)
		}
		last = bucket
	}
}

func TestQuantilesAgreeWithSorting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, int64(time.Minute)), 1, 300).Draw(t, "values")
		var whole, half histogram
		for i, v := range values {
			if i%2 == 0 {
				whole.record(time.Duration(v))
			} else {
				half.record(time.Duration(v))
			}
		}
		whole.merge(&half)
		slices.Sort(values)
		for _, q := range []float64{0, 0.5, 0.9, 0.99, 0.999, 1} {
			rank := max(int(math.Ceil(q*float64(len(values)))), 1)
			exact := float64(values[rank-1])
			if got := float64(whole.quantile(q)); math.Abs(got-exact) > exact/(1<<subBits) {
				t.Fatalf("quantile %v is %v, sorted %v", q, got, exact)
			}
		}
		if whole.max != time.Duration(values[len(values)-1]) || whole.count != uint64(len(values)) {
			t.Fatalf("max %v, count %d", whole.max, whole.count)
		}
	})
}

func TestEmptyHistogramHasNoQuantile(t *testing.T) {
	var h histogram
	assert.Zero(t, h.quantile(0.5))
	h.record(-time.Second)
	assert.Zero(t, h.max, "a clock that went back is no time at all")
}
