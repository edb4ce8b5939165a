package e2e

import (
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A majority's disks hold what was acknowledged, so not even the end of all processes in one moment may lose any of it.
// The record of events goes on where it was, because each node's log holds what its memory did.
func TestAllKilledAtOnceLoseNothingAcknowledged(t *testing.T) {
	c := startCluster(t)
	total, rate := kills(t)
	for i := range total {
		witnesses := c.witness(c.newestRevision(), []int{1}, []int{2}, []int{3}, []int{3, 2, 1})
		load := c.renew([]int{1, 2, 3}, killClients, rate)
		load.more(t, 2*rate)
		c.killAll()
		killed := time.Now()
		c.restartAll()
		served := time.Since(killed)
		load.more(t, 2*rate)
		load.stop()
		t.Logf("kill %d of all: %d acknowledged, %d of unknown outcome, outage %s, all nodes serve after %s", i+1, load.acknowledged(),
			load.unknown(), load.outage().Round(time.Millisecond), served.Round(time.Millisecond))
		c.assertWitnessed(witnesses, load.accounts())
		c.assertEqual()
	}
}

// killAll kills all nodes as kill -9 does, with nothing between, and waits until dev has noticed.
func (c *cluster) killAll() {
	c.t.Helper()
	var ended []func() bool
	pids := []int{c.pid(1), c.pid(2), c.pid(3)}
	for k := 1; k <= 3; k++ {
		ended = append(ended, c.nextEnd(k))
	}
	for _, pid := range pids {
		require.NoError(c.t, syscall.Kill(pid, syscall.SIGKILL))
	}
	for _, over := range ended {
		require.Eventually(c.t, over, patience, 10*time.Millisecond)
	}
}

// restartAll starts all nodes again and waits until they serve.
func (c *cluster) restartAll() {
	var restarting sync.WaitGroup
	failed := make([]error, 3)
	for k := 1; k <= 3; k++ {
		restarting.Go(func() { failed[k-1] = c.tryRestart(k) })
	}
	restarting.Wait()
	for k, err := range failed {
		require.NoError(c.t, err, fmt.Sprintf("restart node-%d", k+1))
	}
}
