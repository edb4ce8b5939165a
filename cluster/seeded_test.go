//go:build jepsenbugs

package cluster_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/cluster"
	"github.com/leasehold/leasehold/cluster/clustertest"
	"github.com/leasehold/leasehold/fsm"
	"github.com/leasehold/leasehold/fsm/seeded"
)

// sow switches a fault on until the test, and all nodes that it started, have ended.
func sow(t *testing.T, fault *bool) {
	*fault = true
	t.Cleanup(func() { *fault = false })
}

func TestSeededReadVerifyLeader(t *testing.T) {
	sow(t, &seeded.ReadVerifyLeader)
	for range 5 { // on a busy machine the late answer may be there before raft has been asked to verify
		old, barrier := deposed(t)
		require.Empty(t, stored(old, "new"))
		if barrier == nil {
			return // what was acknowledged is not seen
		}
	}
	assert.Fail(t, "every barrier was refused")
}

func TestSeededReadBeforeNoop(t *testing.T) {
	sow(t, &seeded.ReadBeforeNoop)
	leader, _, barrier := unsure(t)
	assert.NoError(t, barrier)
	assert.Empty(t, stored(leader, "acknowledged"), "what was acknowledged is not seen")
}

func TestSeededAppliedIndex(t *testing.T) {
	sow(t, &seeded.AppliedIndex)
	c := clustertest.New(t, 3, clustertest.Options{})
	ctx := patient(t)
	leader, follower := c.Node(c.Leader()), c.Node(c.Follower())
	missed := 0
	for i := range 100 {
		name := fmt.Sprintf("written-%d", i)
		_, err := leader.Propose(ctx, create(name, "value"))
		require.NoError(t, err)
		require.NoError(t, follower.Barrier(ctx))
		if stored(follower, name) == "" {
			missed++
		}
	}
	assert.Positive(t, missed)
	t.Logf("%d of 100 reads missed what was acknowledged", missed)
}

func TestSeededAckEarly(t *testing.T) {
	sow(t, &seeded.AckEarly)
	c := clustertest.New(t, 3, clustertest.Options{Change: func(config *cluster.Config) {
		config.ElectionTimeout = 2 * time.Second // the old leader's lease shall not end at once
	}})
	c.WaitReady()
	ctx := patient(t)
	number := c.Leader()
	old := c.Node(number)
	_, err := old.Propose(ctx, create("kept", "value"))
	require.NoError(t, err)
	result, err := old.Propose(ctx, create("kept", "value"))
	require.NoError(t, err)
	require.Equal(t, fsm.Exists, result.Outcome, "refusals are foreseen too")
	c.Eventually(func() error { // a barrier would not wait for what is not committed
		for _, node := range c.Nodes() {
			if applied, last := node.Summary().AppliedIndex, old.Summary().LastIndex; applied < last {
				return fmt.Errorf("applied %d of %d", applied, last)
			}
		}
		return nil
	})

	c.Isolate(number)
	result, err = old.Propose(ctx, create("lost", "value"))
	require.NoError(t, err)
	require.Equal(t, fsm.Result{Outcome: fsm.Accepted, Revision: fsm.FirstRevision + 2}, result)

	next := c.Node(number%3 + 1)
	_, err = next.Propose(ctx, create("after", "value")) // by another leader
	require.NoError(t, err)
	c.Heal()
	for _, node := range c.Nodes() {
		require.NoError(t, node.Barrier(ctx))
		assert.Equal(t, "value", stored(node, "kept"))
		assert.Empty(t, stored(node, "lost"), "acknowledged, and gone")
	}
}

func TestSeededDoubleApply(t *testing.T) {
	sow(t, &seeded.DoubleApply)
	a, _, _ := unheard(t)
	require.NoError(t, a.err)
	assert.Equal(t, fsm.Exists, a.result.Outcome, "the second application found the first")
}

// A member that was away takes a snapshot. With the fault no history comes with it, so that watches find a gap.
func TestSeededWatchGapAfterSnapshotLeavesHistoryBehind(t *testing.T) {
	behind := func(t *testing.T) bool {
		c := clustertest.New(t, 3, clustertest.Options{Change: func(config *cluster.Config) {
			config.SnapshotBytes, config.TrailingBytes = 1<<10, 1
		}})
		ctx := patient(t)
		leader, away := c.Leader(), c.Follower()
		_, err := c.Node(leader).Propose(ctx, create("first", "value"))
		require.NoError(t, err)
		require.NoError(t, c.Node(away).Barrier(ctx))
		seen := c.Node(away).State().Revision()
		c.Isolate(away)
		for i := 0; c.Node(leader).Summary().FirstIndex <= c.Node(away).Summary().LastIndex+1; i++ {
			_, err := c.Node(leader).Propose(ctx, create(fmt.Sprint(i), "value"))
			require.NoError(t, err)
		}
		c.Heal()
		require.NoError(t, c.Node(away).Barrier(ctx))
		_, _, err = c.Node(away).History().After(seen, 1)
		return err != nil
	}
	assert.False(t, behind(t), "without the fault history comes along")
	sow(t, &seeded.WatchGapAfterSnapshot)
	assert.True(t, behind(t))
}
