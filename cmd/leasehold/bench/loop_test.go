package bench

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func nothing(context.Context) error { return nil }

func TestOpenLoopCountsFromTheIntendedStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// One worker, 10 starts a second, and the first answer takes a second: the nine that should have started
		// meanwhile waited too, and a closed loop would not have noticed.
		calls := 0
		slow := func(context.Context, int, time.Time) error {
			if calls++; calls == 1 {
				time.Sleep(time.Second)
			}
			return nil
		}
		drive := load{workers: 1, rate: 10, duration: 2*time.Second - time.Millisecond}
		tallies, measured, err := drive.drive(t.Context(), slow, nothing, func(int64) {})
		require.NoError(t, err)
		latency := &tallies[0].latency
		assert.EqualValues(t, 20, latency.count)
		assert.Equal(t, time.Second, latency.max)
		assert.InDelta(t, float64(900*time.Millisecond), float64(latency.quantile(0.95)), float64(10*time.Millisecond))
		assert.Equal(t, drive.duration, measured.ended.Sub(measured.started))
	})
}

func TestClosedLoopStartsWhenTheLastHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		op := func(context.Context, int, time.Time) error { time.Sleep(100 * time.Millisecond); return nil }
		drive := load{workers: 2, duration: time.Second + 50*time.Millisecond}
		tallies, _, err := drive.drive(t.Context(), op, nothing, func(int64) {})
		require.NoError(t, err)
		assert.EqualValues(t, 20, tallies[0].latency.count+tallies[1].latency.count)
		assert.Equal(t, 100*time.Millisecond, tallies[0].latency.max)
	})
}

func TestWarmUpIsNotMeasuredAndErrorsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var marks []time.Time
		mark := func(context.Context) error { marks = append(marks, time.Now()); return nil }
		begun := time.Now()
		op := func(context.Context, int, time.Time) error {
			time.Sleep(100 * time.Millisecond)
			if time.Since(begun) > 2*time.Second {
				return errors.New("late")
			}
			return nil
		}
		drive := load{workers: 1, warmup: time.Second + 50*time.Millisecond, duration: 2 * time.Second}
		tallies, _, err := drive.drive(t.Context(), op, mark, func(int64) {})
		require.NoError(t, err)
		require.Len(t, marks, 2)
		assert.Equal(t, drive.warmup, marks[0].Sub(begun))
		assert.Equal(t, drive.duration, marks[1].Sub(marks[0]))
		assert.EqualValues(t, 10, tallies[0].latency.count)
		assert.Equal(t, 10, tallies[0].errors)
		assert.EqualError(t, tallies[0].first, "late")
	})
}

func TestInterruptEndsTheLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var calls atomic.Int64
		op := func(ctx context.Context, _ int, _ time.Time) error {
			if calls.Add(1) == 3 {
				cancel()
			}
			time.Sleep(time.Millisecond)
			return ctx.Err()
		}
		drive := load{workers: 1, rate: 1, duration: time.Hour}
		_, _, err := drive.drive(ctx, op, nothing, func(int64) {})
		assert.ErrorIs(t, err, context.Canceled)
	})
}

func TestCPUIsReadFromMetrics(t *testing.T) {
	used, err := cpuSeconds("# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total 12.5\nother 1\n")
	require.NoError(t, err)
	assert.Equal(t, 12500*time.Millisecond, used)
	_, err = cpuSeconds("other 1\n")
	assert.Error(t, err)
}

func TestMedianTakesEachFigureByItself(t *testing.T) {
	m := median([]Measurement{
		{Rate: 1, P50: 30, CPUPerOp: 5, Errors: 1}, {Rate: 3, P50: 10, CPUPerOp: 4}, {Rate: 2, P50: 20, CPUPerOp: 6, Errors: 1},
	})
	assert.Equal(t, 2.0, m.Rate)
	assert.EqualValues(t, 20, m.P50)
	assert.EqualValues(t, 5, m.CPUPerOp)
	assert.Equal(t, 2, m.Errors)
}
