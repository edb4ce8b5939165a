package cluster_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/cluster"
	"github.com/leasehold/leasehold/cluster/clustertest"
	"github.com/leasehold/leasehold/fsm"
)

// A leader that is closed under load hands over before the load ends, and the callers of the others see nothing of it.
func TestClosingTheLeaderUnderLoadIsNotFeltElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.New(t, 3, clustertest.Options{Memory: true})
		c.WaitReady()
		leader := c.Leader()
		closing := c.Node(leader)
		var stop atomic.Bool
		var writers sync.WaitGroup
		for number := range 3 {
			if number+1 == leader {
				continue
			}
			node := c.Node(number + 1)
			for i := range 8 {
				writers.Go(func() {
					for j := 0; !stop.Load(); j++ {
						ctx, cancel := context.WithTimeout(context.Background(), 2500*time.Millisecond)
						result, err := node.Propose(ctx, create(fmt.Sprintf("%d-%d-%d", number, i, j), "value"))
						cancel()
						if !assert.NoError(t, err) || !assert.Equal(t, fsm.Accepted, result.Outcome) {
							return
						}
						time.Sleep(time.Millisecond)
					}
				})
			}
		}
		time.Sleep(time.Second)
		started := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), clustertest.Patience)
		defer cancel()
		require.NoError(t, closing.Close(ctx))
		require.Less(t, time.Since(started), 2*time.Second, "it does not wait for the load to end")
		time.Sleep(time.Second)
		stop.Store(true)
		writers.Wait()
		c.Close()
	})
}

// Proposals whose callers have gone are nobody's business any more, also while no leader is there to take them.
func TestClosingWithoutAQuorumDoesNotWaitForCallersWhoHaveGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.New(t, 3, clustertest.Options{Memory: true})
		c.WaitReady()
		number := c.Follower()
		node := c.Node(number)
		c.Isolate(number)
		<-node.Serving()
		caller, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		_, err := node.Propose(caller, create("never", "value"))
		require.ErrorIs(t, err, cluster.ErrUnavailable)

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.NoError(t, node.Close(ctx))
		require.NoError(t, ctx.Err(), "it took all the time that it was given")
		c.Heal()
		c.Close()
	})
}
