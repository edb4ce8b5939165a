package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPythonClient(t *testing.T) {
	t.Parallel()
	s := pythonScript(t, "main.py")
	c := startCluster(t, "--history-bytes", "1048576")
	s.check(t, c, 63, "verbs", "patches", "pages", "times", "drops", "locks", "watches")
}

// TestPythonClientsElectALeader kills the holder of a lock that two candidates want, each at another node.
func TestPythonClientsElectALeader(t *testing.T) {
	t.Parallel()
	s := pythonScript(t, "candidate.py")
	c := startCluster(t)
	lock := c.watchLock(t, 3, "python")
	first := startCandidate(t, "first", s.start(t, c, "node-1", "first", "python"))
	first.await(t, "leading")
	second := startCandidate(t, "second", s.start(t, c, "node-2", "second", "python"))
	second.await(t, "sees first")
	lock.awaitRenewals(2)
	assert.False(t, second.hasSaid("leading"))

	require.NoError(t, first.cmd.Process.Kill())
	second.await(t, "leading")
	lock.awaitRenewals(2)
	lock.assertOneHolderAtATime()
	assert.Equal(t, []string{"first", "second"}, lock.holders())
}
