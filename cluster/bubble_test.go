package cluster_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/cluster"
	"github.com/leasehold/leasehold/cluster/clustertest"
	"github.com/leasehold/leasehold/fsm"
)

// In a bubble nothing takes time but waiting, so what takes seconds can be tested to the second.
func TestClusterInABubbleElectsAndCommits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.New(t, 3, clustertest.Options{Memory: true})
		ctx := patient(t)
		for _, node := range c.Nodes() {
			result, err := node.Propose(ctx, create(node.Status().ID, "value"))
			require.NoError(t, err)
			require.Equal(t, fsm.Accepted, result.Outcome)
		}
		for _, node := range c.Nodes() {
			require.NoError(t, node.Barrier(ctx))
			require.Equal(t, "value", stored(node, "node-1"))
		}
		c.Close()
	})
}

func TestIsolatedNodeRefusesReadsAndStopsBeingReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.New(t, 3, clustertest.Options{Memory: true})
		c.WaitReady()
		for _, role := range []int{c.Leader(), c.Follower()} {
			c.WaitReady()
			node := c.Node(role)
			serving := node.Serving()
			c.Isolate(role)
			cut := time.Now()

			ctx, cancel := context.WithTimeout(context.Background(), 2500*time.Millisecond)
			require.ErrorIs(t, node.Barrier(ctx), cluster.ErrUnavailable)
			_, err := node.Propose(ctx, create("never", "value"))
			require.Error(t, err)
			cancel()
			require.LessOrEqual(t, time.Since(cut), 2500*time.Millisecond)
			require.NoError(t, node.Ready(), "a short cut is not felt")

			<-serving
			require.Error(t, node.Ready())
			require.ErrorIs(t, node.Ready(), cluster.ErrUnavailable)
			require.InDelta(t, 5*time.Second, time.Since(cut), float64(2*time.Second))
			<-node.Serving()

			c.Heal()
			c.WaitReady()
		}
		c.Close()
	})
}

// While many callers come and go, entries wait for company; a caller that is alone goes at once.
func TestEntriesFillUpUnderLoadAndNotForOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var writing atomic.Int64
		c := clustertest.New(t, 3, clustertest.Options{Memory: true, Change: func(config *cluster.Config) {
			config.Logs = slowLogs{config.Logs, &writing}
		}})
		c.WaitReady()
		ctx := patient(t)
		update := func(node *cluster.Node, caller, rounds int, think time.Duration) {
			command := create(fmt.Sprintf("lease-%d", caller), "value")
			for range rounds {
				result, err := node.Propose(ctx, command)
				require.NoError(t, err)
				require.Equal(t, fsm.Accepted, result.Outcome)
				command.Op, command.Expect.Revision = fsm.OpUpdate, result.Revision
				time.Sleep(think)
			}
		}
		leader := c.Node(c.Leader())
		writing.Store(int64(100 * time.Microsecond)) // or it would be chance who is there when an entry ends
		var crowd sync.WaitGroup
		before := leader.Status().LastIndex
		for caller := range 60 {
			crowd.Go(func() { update(c.Node(caller%3+1), caller, 50, time.Duration(caller)*50*time.Microsecond) })
		}
		crowd.Wait()
		entries := leader.Status().LastIndex - before
		writing.Store(0)
		require.Less(t, entries, uint64(400), "716 without a wait")

		update(leader, 60, 1, 0) // may still wait for the crowd
		alone := time.Now()
		update(leader, 61, 100, 0)
		require.Zero(t, time.Since(alone), "nothing takes time in a bubble but waiting")
		c.Close()
	})
}
