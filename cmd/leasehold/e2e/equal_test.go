package e2e

import (
	"slices"
	"time"

	"github.com/stretchr/testify/require"
)

// others returns the nodes but one.
func others(k int) []int {
	return slices.DeleteFunc([]int{1, 2, 3}, func(n int) bool { return n == k })
}

// assertEqual waits until all nodes have applied the same, and compares what they hold.
func (c *cluster) assertEqual() {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		nodes := c.status()
		for _, n := range nodes {
			if n.Error != "" || n.HashIndex != nodes[0].HashIndex {
				return false
			}
		}
		for _, n := range nodes {
			require.Equal(c.t, nodes[0].Hash, n.Hash, "%s differs from %s at index %d", n.ID, nodes[0].ID, n.HashIndex)
		}
		return true
	}, patience, 200*time.Millisecond)
}
