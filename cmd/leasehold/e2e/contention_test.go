package e2e

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/util/retry"
)

// TestRetryOnConflictLosesNoIncrement counts in leaseTransitions, from eight goroutines on three nodes.
func TestRetryOnConflictLosesNoIncrement(t *testing.T) {
	t.Parallel()
	const counters, increments = 8, 50
	c := startCluster(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	count := newLease("count", "all")
	count.Spec.LeaseTransitions = new(int32(0))
	_, err := c.leases(t, 1, "contended").Create(ctx, count, metav1.CreateOptions{})
	require.NoError(t, err)

	var conflicts atomic.Int64
	var counting errgroup.Group
	for g := range counters {
		leases := c.leases(t, 1+g%3, "contended")
		counting.Go(func() error {
			for i := range increments {
				if err := increment(ctx, leases, &conflicts); err != nil {
					return fmt.Errorf("counter %d, increment %d: %w", g, i, err)
				}
			}
			return nil
		})
	}
	require.NoError(t, counting.Wait())

	for k := 1; k <= 3; k++ {
		counted, err := c.leases(t, k, "contended").Get(ctx, "count", metav1.GetOptions{})
		require.NoError(t, err)
		assert.EqualValues(t, counters*increments, *counted.Spec.LeaseTransitions, "at node %d", k)
	}
	assert.Positive(t, conflicts.Load(), "without conflicts this shows nothing")
	t.Logf("%d increments met %d conflicts", counters*increments, conflicts.Load())
}

// increment adds one to the transitions of Lease count.
func increment(ctx context.Context, leases coordination.LeaseInterface, conflicts *atomic.Int64) error {
	often := wait.Backoff{Steps: 1000, Duration: 10 * time.Millisecond, Factor: 1, Jitter: 1}
	return retry.RetryOnConflict(often, func() error {
		count, err := leases.Get(ctx, "count", metav1.GetOptions{})
		if err != nil {
			return err
		}
		*count.Spec.LeaseTransitions++
		_, err = leases.Update(ctx, count, metav1.UpdateOptions{})
		if errors.IsConflict(err) {
			conflicts.Add(1)
		}
		return err
	})
}
