package e2e

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPythonClient(t *testing.T) {
	t.Parallel()
	s := pythonScript(t, "main.py")
	c := startCluster(t, "--history-bytes", "1048576")
	s.check(t, c, 66, "verbs", "patches", "pages", "times", "drops", "locks", "watches")
}

// TestPythonLockOfAKilledHolderGoesToTheOther kills the holder of a lock that two candidates want, each at another node.
func TestPythonLockOfAKilledHolderGoesToTheOther(t *testing.T) {
	t.Parallel()
	s := pythonScript(t, "candidate.py")
	c := startCluster(t)
	lock, first, second := s.elect(t, c)
	require.NoError(t, first.cmd.Process.Kill())
	second.await(t, "leading")
	lock.awaitRenewals(2)
	lock.assertOneHolderAtATime()
	assert.Equal(t, []string{"first", "second"}, lock.holders())
}

// TestPythonLockOfAHolderWhoseNodeDiesGoesToTheOther kills the node that the holder speaks to.
func TestPythonLockOfAHolderWhoseNodeDiesGoesToTheOther(t *testing.T) {
	t.Parallel()
	s := pythonScript(t, "candidate.py")
	c := startCluster(t)
	lock, first, second := s.elect(t, c)
	c.kill(1)
	second.await(t, "leading")
	assert.True(t, first.hasSaid("lost"), "two lead")
	lock.awaitRenewals(2)
	lock.assertOneHolderAtATime()
	assert.Equal(t, []string{"first", "second"}, lock.holders())
}

// elect starts two candidates, the first at node 1 and the second at node 2, and returns once the first leads and the second waits.
func (s script) elect(t *testing.T, c *cluster) (lock *lock, first, second *candidate) {
	t.Helper()
	lock = c.watchLock(t, 3, "python")
	first = startCandidate(t, "first", s.start(t, c, nodeName(1), "first", "python"))
	first.await(t, "leading")
	second = startCandidate(t, "second", s.start(t, c, nodeName(2), "second", "python"))
	second.await(t, "sees first")
	lock.awaitRenewals(2)
	assert.False(t, second.hasSaid("leading"))
	return lock, first, second
}

// pythonScript is a file of the Python client's checks. The zone is one that is far from UTC and not by whole hours, for
// this client turns every time that it reads into the machine's own.
func pythonScript(t *testing.T, file string) script {
	t.Helper()
	return script{
		command: []string{python(t), filepath.Join("python", file)},
		env:     []string{"TZ=AAA-5:45", "PYTHONDONTWRITEBYTECODE=1"},
	}
}

// python returns an interpreter that has the client: the system's own, or the one on the PATH.
func python(t *testing.T) string {
	t.Helper()
	for _, interpreter := range []string{"/usr/bin/python3", "python3"} {
		version, err := exec.Command(interpreter, "-c", "import kubernetes; print(kubernetes.__version__)").Output()
		if err == nil {
			t.Logf("kubernetes %s in %s", bytes.TrimSpace(version), interpreter)
			return interpreter
		}
	}
	lackClient(t, "no python3 has the package kubernetes")
	return ""
}
