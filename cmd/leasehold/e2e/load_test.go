package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// measured is what leasehold bench tells of a load.
type measured struct {
	Operations int           `json:"operations"`
	Errors     int           `json:"errors"`
	FirstError string        `json:"firstError"`
	Max        time.Duration `json:"max"`
}

// renewThrough starts renewals at a rate through some nodes for a while. The function it returns waits for the result.
func (c *cluster) renewThrough(nodes []int, rate, workers int, duration time.Duration) func() measured {
	c.t.Helper()
	args := []string{"bench", "--mode", "renew", "-o", "json", "--token", c.file("admin.token"), "--ca-file", c.path("ca.crt"),
		"--rate", strconv.Itoa(rate), "--workers", strconv.Itoa(workers), "--leases", strconv.Itoa(workers), "--duration", duration.String()}
	for _, k := range nodes {
		args = append(args, "--url", fmt.Sprintf("https://127.0.0.1:%d", c.port+k-1))
	}
	bench := exec.Command(leasehold, args...)
	var out, progress bytes.Buffer
	bench.Stdout, bench.Stderr = &out, &progress
	require.NoError(c.t, bench.Start())
	return func() measured {
		c.t.Helper()
		require.NoError(c.t, bench.Wait(), "%s", progress.String())
		var m measured
		require.NoError(c.t, json.Unmarshal(out.Bytes(), &m))
		return m
	}
}

// others returns the nodes but one.
func others(k int) []int {
	return slices.DeleteFunc([]int{1, 2, 3}, func(n int) bool { return n == k })
}

func TestRollingRestartIsNotNoticedThroughTheOtherNodes(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	for k := 1; k <= 3; k++ {
		result := c.renewThrough(others(k), 100, 20, 8*time.Second)
		c.restart(k)
		m := result()
		assert.Zero(t, m.Errors, "while node-%d restarted: %s", k, m.FirstError)
		assert.NotZero(t, m.Operations)
	}
	c.assertEqual()
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

// Two elections in a row may take longer than a client waits; so a few of many kills may be noticed. The fewer there
// are, the fewer may.
func TestKilledLeaderIsNotNoticedThroughTheOtherNodes(t *testing.T) {
	kills, rate, workers := 2, 300, 50
	if os.Getenv("LEASEHOLD_E2E_NIGHTLY") != "" {
		kills, rate, workers = 20, 2000, 200
	}
	t.Parallel()
	c := startCluster(t)
	noticed := 0
	for range kills {
		leader, _ := c.leader()
		result := c.renewThrough(others(leader), rate, workers, 8*time.Second)
		time.Sleep(3 * time.Second) // into the measured time
		c.kill(leader)
		if m := result(); m.Errors > 0 {
			noticed++
			t.Logf("kill of node-%d: %d of %d renewals failed, the first with %s", leader, m.Errors, m.Operations, m.FirstError)
		}
		c.restart(leader)
		c.assertEqual()
	}
	assert.LessOrEqual(t, noticed, max(1, kills/10))
}
