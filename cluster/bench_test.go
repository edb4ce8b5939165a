package cluster_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/cluster/clustertest"
	"github.com/leasehold/leasehold/fsm"
)

// BenchmarkPropose measures updates of one object for each caller on three nodes in this process, with their disks.
func BenchmarkPropose(b *testing.B) {
	for _, role := range []string{"leader", "follower", "spread"} {
		for _, callers := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s/%d", role, callers), func(b *testing.B) {
				c := clustertest.New(b, 3, clustertest.Options{})
				c.WaitReady()
				leader, follower := c.Leader(), c.Follower()
				ctx := context.Background()
				var left atomic.Int64
				left.Store(int64(b.N))
				value := make([]byte, 400)
				var wait sync.WaitGroup
				first := c.Node(leader).Status().LastIndex
				start := spent()
				b.ResetTimer()
				for i := range callers {
					node := c.Node(leader)
					switch {
					case role == "follower":
						node = c.Node(follower)
					case role == "spread":
						node = c.Node(i%3 + 1)
					}
					wait.Go(func() {
						name := fmt.Sprintf("lease-%d", i)
						command := create(name, string(value))
						for left.Add(-1) >= 0 {
							result, err := node.Propose(ctx, command)
							if err != nil || result.Outcome != fsm.Accepted {
								b.Errorf("%v %v", result, err)
								return
							}
							command.Op = fsm.OpUpdate
							command.Expect.Revision = result.Revision
						}
					})
				}
				wait.Wait()
				b.StopTimer()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ops/s")
				b.ReportMetric(float64(b.N)/float64(c.Node(leader).Status().LastIndex-first), "ops/entry")
				b.ReportMetric(float64(spent()-start)/float64(b.N), "cpu-ns/op")
				require.False(b, b.Failed())
			})
		}
	}
}

// spent returns the CPU time of this process so far.
func spent() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func BenchmarkBarrier(b *testing.B) {
	for _, role := range []string{"leader", "follower"} {
		for _, callers := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s/%d", role, callers), func(b *testing.B) {
				c := clustertest.New(b, 3, clustertest.Options{})
				c.WaitReady()
				node := c.Node(c.Leader())
				if role == "follower" {
					node = c.Node(c.Follower())
				}
				var left atomic.Int64
				left.Store(int64(b.N))
				var wait sync.WaitGroup
				b.ResetTimer()
				for range callers {
					wait.Go(func() {
						for left.Add(-1) >= 0 {
							if err := node.Barrier(context.Background()); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				wait.Wait()
			})
		}
	}
}
