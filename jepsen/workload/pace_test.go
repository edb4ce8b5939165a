package workload

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestOperationsKeepToTheRateWhateverAnswersTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second)
		defer cancel()
		n := 0
		for p := newPacer(100*time.Millisecond, rand.New(rand.NewPCG(1, 1))); p.wait(ctx); n++ {
			time.Sleep(time.Duration(n%3) * 40 * time.Millisecond)
		}
		assert.InDelta(t, 1000, n, 30)
	})
}

func TestWhatWasMissedForLongIsNotMadeUpFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPacer(100*time.Millisecond, rand.New(rand.NewPCG(1, 1)))
		p.wait(t.Context())
		time.Sleep(time.Minute)
		began, n := time.Now(), 0
		for p.wait(t.Context()) && time.Since(began) == 0 {
			n++
		}
		assert.InDelta(t, float64(arrears/(100*time.Millisecond)), n, 5)
	})
}

func TestAWorkerChoosesTheSameWithTheSameSeed(t *testing.T) {
	draw := func(seed uint64, name string) uint64 {
		return (&scene{Options: Options{Seed: seed}}).worker(name).rng.Uint64()
	}
	assert.Equal(t, draw(1, "a"), draw(1, "a"))
	assert.NotEqual(t, draw(1, "a"), draw(2, "a"))
	assert.NotEqual(t, draw(1, "a"), draw(1, "b"))
}
