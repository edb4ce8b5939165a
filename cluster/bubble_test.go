package cluster_test

import (
	"context"
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
