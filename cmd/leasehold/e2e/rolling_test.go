package e2e

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every node is stopped by SIGTERM and started again, one of them only when the others' logs do not reach back to what it
// has, so that it needs a snapshot. Clients renew on every node and watch on every node all the while: those of a node
// that stops notice, the others must not, and no watch may miss or repeat anything or hear that its version has expired.
func TestRollingRestartIsNoticedOnlyOnTheNodeThatRestarts(t *testing.T) {
	const rate = 300
	c := startCluster(t, "--snapshot-bytes", "1048576", "--trailing-bytes", "4194304")
	// Watches that come back to their node, and watches that go to the next.
	witnesses := c.witness(c.newestRevision(), []int{1}, []int{2}, []int{3}, []int{1, 2, 3}, []int{2, 3, 1}, []int{3, 1, 2})
	load := c.renew([]int{1, 2, 3}, 30, rate)
	accounts := load.accounts()
	snapshotted := 2
	var down [4][2]time.Time // from the signal until the node serves, by node
	for k := 1; k <= 3; k++ {
		load.more(t, rate)
		logged := c.logged()
		down[k][0] = time.Now()
		ended := c.nextEnd(k)
		c.signal(k, syscall.SIGTERM)
		require.Eventually(t, ended, patience, 10*time.Millisecond)
		assert.Contains(t, c.file(nodeName(k), "log")[logged[k-1]:], "stopped", "node-%d did not stop in order", k)
		if k == snapshotted {
			ballast := c.outgrow(k)
			accounts[ballast.lease] = account{0, ballast.fates}
		}
		c.restart(k)
		down[k][1] = time.Now()
		t.Logf("node-%d was away for %s", k, down[k][1].Sub(down[k][0]).Round(time.Millisecond))
		if k == snapshotted {
			assert.True(t, c.tookSnapshot(k, logged), "node-%d caught up from the log", k)
		}
	}
	load.more(t, rate)
	load.stop()

	own := 0
	for _, f := range load.failures() {
		if f.at.Before(down[f.node][0]) || f.sent.After(down[f.node][1]) {
			assert.Fail(t, "a client of a node that did not restart had an error", "node-%d: %s", f.node, f.what)
		} else {
			own++
		}
	}
	t.Logf("%d acknowledged, %d errors on the nodes that were away, outage %s", load.acknowledged(), own, load.outage().Round(time.Millisecond))
	c.assertWitnessed(witnesses, accounts)
	for i, w := range witnesses {
		resumed := w.state().resumed
		assert.NotEmpty(t, resumed, "witness %d: its node's restart did not end its watch", i)
		t.Logf("witness %d: watches ended: %s", i, strings.Join(resumed, "; "))
	}
	c.assertEqual()
}

// outgrow writes large versions through another node until no other node's log reaches back to where node k stopped.
func (c *cluster) outgrow(k int) *renewer {
	c.t.Helper()
	at := others(k)[0]
	stopped := c.status()[at-1].AppliedIndex
	r := c.newRenewer("ballast", at)
	r.pad = strings.Repeat("x", 200<<10)
	deadline := time.Now().Add(patience)
	for {
		for range 10 {
			require.True(c.t, r.attempt(time.Now()), "%v", r.failures)
		}
		nodes, behind := c.status(), 0
		for _, other := range others(k) {
			if nodes[other-1].FirstIndex > stopped+1 {
				behind++
			}
		}
		if behind == 2 {
			return r
		}
		require.True(c.t, time.Now().Before(deadline), "the logs still reach back to %d", stopped)
	}
}
