package nemesis

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// warded runs a test of a ward over a fake of three nodes.
func warded(t *testing.T, test func(t *testing.T, w *ward, f *fake)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(3)
		test(t, newWard(f), f)
		assert.Empty(t, f.violations)
	})
}

func TestALinkIsGoodOnlyWhenAllFaultsHaveLetGoOfIt(t *testing.T) {
	warded(t, func(t *testing.T, w *ward, f *fake) {
		there, back := link{"node-1", "node-2"}, link{"node-2", "node-1"}
		require.NoError(t, w.links.set("a", between([]string{"node-1"}, []string{"node-2", "node-3"}, Condition{Drop: true})))
		require.NoError(t, w.links.set("b", map[link]Condition{there: {Drop: true}}))
		require.NoError(t, w.links.set("c", map[link]Condition{there: {Delay: time.Second}}))
		assert.Equal(t, Condition{Drop: true, Delay: time.Second}, f.links[there])
		assert.Equal(t, Condition{Drop: true}, f.links[back])

		require.NoError(t, w.release(t.Context(), "a"))
		assert.Equal(t, Condition{Drop: true, Delay: time.Second}, f.links[there], "b still wants it cut")
		assert.Zero(t, f.links[back])
		assert.Zero(t, f.links[link{"node-1", "node-3"}])

		require.NoError(t, w.release(t.Context(), "b"))
		assert.Equal(t, Condition{Delay: time.Second}, f.links[there])
		require.NoError(t, w.release(t.Context(), "c"))
		assert.Zero(t, f.links[there])
	})
}

func TestAFaultThatSetsItsLinksAgainLetsGoOfTheOthers(t *testing.T) {
	warded(t, func(t *testing.T, w *ward, f *fake) {
		first, second := link{"node-1", "node-2"}, link{"node-2", "node-3"}
		require.NoError(t, w.links.set("a", map[link]Condition{first: {Drop: true}}))
		require.NoError(t, w.links.set("a", map[link]Condition{second: {Drop: true}}))
		assert.Zero(t, f.links[first])
		assert.Equal(t, Condition{Drop: true}, f.links[second])
	})
}

func TestConditionsBlend(t *testing.T) {
	all := blend(map[string]Condition{
		"a": {Loss: 0.5, Delay: 1500 * time.Millisecond, Jitter: time.Millisecond},
		"b": {Loss: 0.5, Delay: time.Second, Reset: true},
	})
	assert.InDelta(t, 0.75, all.Loss, 1e-9, "half of what the other half lets pass")
	assert.Equal(t, longestDelay, all.Delay)
	assert.Equal(t, time.Millisecond, all.Jitter)
	assert.True(t, all.Reset)
	assert.Zero(t, blend(nil))
}

func TestAPausedNodeThatIsKilledIsPausedAgainOnceItRuns(t *testing.T) {
	warded(t, func(t *testing.T, w *ward, f *fake) {
		ctx, node := t.Context(), f.nodes["node-2"]
		require.NoError(t, w.pause("p", []string{"node-2"}))
		require.NoError(t, w.down(ctx, "k", w.kill, []string{"node-1", "node-2"}))
		assert.False(t, node.up)
		require.NoError(t, w.release(ctx, "k"))
		assert.True(t, node.up && node.paused, "it is started, and the pause is still in force")
		require.NoError(t, w.release(ctx, "p"))
		assert.True(t, node.runs())
		assert.True(t, f.nodes["node-1"].runs())
	})
}

func TestANodeIsDownUntilTheLastWhoWantsItSo(t *testing.T) {
	warded(t, func(t *testing.T, w *ward, f *fake) {
		ctx := t.Context()
		require.NoError(t, w.down(ctx, "k", w.kill, []string{"node-1"}))
		require.NoError(t, w.down(ctx, "l", w.powerLoss, []string{"node-1", "node-2"}), "what is down cannot lose power")
		require.NoError(t, w.pause("p", []string{"node-1"}))
		require.NoError(t, w.release(ctx, "k"))
		assert.False(t, f.nodes["node-1"].up)
		require.NoError(t, w.release(ctx, "p"))
		require.NoError(t, w.release(ctx, "l"))
		assert.Empty(t, f.ailing())
		assert.Equal(t, 1, f.nodes["node-1"].starts)
	})
}

func TestConditionsOfANodeAddUpAndOutliveItsProcess(t *testing.T) {
	warded(t, func(t *testing.T, w *ward, f *fake) {
		ctx, one, node := t.Context(), []string{"node-3"}, f.nodes["node-3"]
		require.NoError(t, w.set(ctx, "a", one, func(d *demand) { d.disk.SyncDelay, d.clock = 100*time.Millisecond, time.Hour }))
		require.NoError(t, w.set(ctx, "b", one, func(d *demand) { d.disk.SyncDelay, d.clock = 50*time.Millisecond, -time.Minute }))
		assert.Equal(t, 150*time.Millisecond, node.disk.SyncDelay)
		assert.Equal(t, 59*time.Minute, node.clock)

		require.NoError(t, w.down(ctx, "k", w.kill, one))
		node.disk = Disk{} // as where a disk is slow by what is done to the process
		require.NoError(t, w.release(ctx, "k"))
		assert.Equal(t, 150*time.Millisecond, node.disk.SyncDelay, "the new process has it as well")

		require.NoError(t, w.release(ctx, "a"))
		assert.Equal(t, 50*time.Millisecond, node.disk.SyncDelay)
		require.NoError(t, w.release(ctx, "b"))
		assert.Empty(t, f.ailing())
	})
}

func TestANewLifeWaitsUntilAPauseIsOver(t *testing.T) {
	warded(t, func(t *testing.T, w *ward, f *fake) {
		ctx, one, node := t.Context(), []string{"node-1"}, f.nodes["node-1"]
		require.NoError(t, w.pause("p", one))
		require.NoError(t, w.set(ctx, "r", one, func(d *demand) { d.life.Flags = []string{"--fast"} }))
		assert.True(t, node.paused)
		assert.Empty(t, node.life.Flags)
		require.NoError(t, w.release(ctx, "p"))
		assert.Equal(t, []string{"--fast"}, node.life.Flags)
		require.NoError(t, w.release(ctx, "r"))
		assert.Empty(t, f.ailing())
	})
}

func TestNoMoreThanAMinorityIsDamaged(t *testing.T) {
	warded(t, func(t *testing.T, w *ward, f *fake) {
		ctx := t.Context()
		require.NoError(t, w.down(ctx, "a", w.kill, f.names))
		_, err := w.harm("node-1", "a", FlipBit, 1)
		require.NoError(t, err)
		_, err = w.harm("node-2", "a", FlipBit, 1)
		require.ErrorContains(t, err, "node-1, node-2")
		require.NoError(t, w.restore("node-1", "a"))
		_, err = w.harm("node-2", "a", FlipBit, 1)
		require.NoError(t, err, "the first one has its files back")
		w.taken("node-2", "a")
		_, err = w.harm("node-3", "a", FlipBit, 1)
		require.Error(t, err)
		_, err = w.harm("node-2", "b", Truncate, 1)
		require.NoError(t, err, "it is damaged anyway")
	})
}

func TestFilesOfARunningNodeAreLeftAlone(t *testing.T) {
	warded(t, func(t *testing.T, w *ward, _ *fake) {
		_, err := w.harm("node-1", "a", Wipe, 1)
		require.ErrorContains(t, err, "it runs")
		require.ErrorContains(t, w.restore("node-1", "a"), "it runs")
	})
}

func TestANodeThatDoesNotEndInGoodOrderIsKilledAndStartedAgain(t *testing.T) {
	warded(t, func(t *testing.T, w *ward, f *fake) {
		f.deaf = true
		done, err := w.restart(t.Context(), "node-1")
		assert.True(t, done)
		require.ErrorIs(t, err, errStubborn)
		assert.Empty(t, f.ailing())
		assert.Equal(t, 1, f.nodes["node-1"].starts)
	})
}

func TestWhatFailedIsDoneAgainByHealing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(3)
		w := newWard(f)
		ctx := context.Background()
		require.NoError(t, w.pause("p", []string{"node-1"}))
		require.NoError(t, w.links.set("p", map[link]Condition{{"node-1", "node-2"}: {Drop: true}}))
		f.failNext = 2
		require.ErrorIs(t, w.release(ctx, "p"), errFake)
		assert.True(t, w.doubtful())
		require.NoError(t, w.links.heal())
		require.NoError(t, w.settle(ctx, "node-1"))
		assert.Empty(t, f.ailing())
		assert.False(t, w.doubtful())
	})
}

func TestALinkWhoseChangeFailedIsToldAgainThatItIsGood(t *testing.T) {
	warded(t, func(t *testing.T, w *ward, f *fake) {
		l := link{"node-1", "node-2"}
		f.failNext = 1
		require.ErrorIs(t, w.links.set("a", map[link]Condition{l: {Drop: true}}), errFake)
		f.links[l] = Condition{Drop: true} // the call failed, and took effect all the same
		require.NoError(t, w.release(t.Context(), "a"))
		assert.Zero(t, f.links[l])
	})
}
