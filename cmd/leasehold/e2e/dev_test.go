package e2e

import (
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDevKeepsItsContract(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "--log-level", "debug")
	for _, name := range []string{"kubeconfig", "admin.token", "user.token", "ca.crt", "node-1/pid", "node-2/log", "node-3/pid"} {
		assert.NotEmpty(t, c.file(name), name)
	}
	for k, n := range c.status() {
		assert.Equal(t, "node-"+strconv.Itoa(k+1), n.ID)
		assert.Equal(t, "https://127.0.0.1:"+strconv.Itoa(c.port+k), n.URL)
		assert.True(t, n.Ready)
	}
	for _, offset := range []int{50, 100, 101, 102} {
		conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port+offset)))
		require.NoError(t, err, "port P+%d", offset)
		conn.Close()
	}
	assert.Contains(t, c.file("node-1", "log"), "[DEBUG]", "flags after -- reach the nodes")
	assert.Contains(t, c.said(), "try: kubectl --kubeconfig "+c.path("kubeconfig"))

	pid := c.pid(2)
	c.stop()
	for _, line := range []string{"node-3: stopped", "node-2: stopped", "node-1: stopped", "balancer: stopped"} {
		assert.Contains(t, c.said(), line)
	}
	assert.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH)
}

func TestDevSaysWhichPortIsTakenBeforeItStartsAnything(t *testing.T) {
	t.Parallel()
	base := freePorts(t)
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(base+101)))
	require.NoError(t, err)
	defer listener.Close()
	dir := t.TempDir()
	out, err := exec.Command(leasehold, "dev", "--dir", dir, "--base-port", strconv.Itoa(base)).CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), listener.Addr().String()+", for the peers of node-2")
	assert.NoFileExists(t, dir+"/node-1/log")
}

func TestDevRefusesASecondOneOnItsDirectory(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	out, err := exec.Command(leasehold, "dev", "--dir", c.dir, "--base-port", strconv.Itoa(freePorts(t))).CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "in use by another leasehold dev")
}

func TestKilledNodeIsReportedAndComesBackByRestart(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	leader, _ := c.leader()
	before := c.pid(leader)
	c.kill(leader)
	assert.NoFileExists(t, c.path("node-"+strconv.Itoa(leader), "pid"), "dev does not restart it")

	next, _ := c.leader()
	assert.NotEqual(t, leader, next)
	c.restart(leader)
	assert.NotEqual(t, before, c.pid(leader))
	require.Eventually(t, func() bool { return c.status()[leader-1].Ready }, patience, 50*time.Millisecond)

	out, err := exec.Command(leasehold, "dev", "restart", "9", "--dir", c.dir).CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "nodes are 1 to 3")
}

func TestNodesStopWhenDevIsKilled(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	pids := []int{c.pid(1), c.pid(2), c.pid(3)}
	require.NoError(t, c.dev.Process.Kill())
	<-c.ended
	for _, pid := range pids {
		require.Eventually(t, func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH }, patience, 50*time.Millisecond)
	}
}

func TestBadConfigurationIsToldAndExitsNonZero(t *testing.T) {
	t.Parallel()
	command := exec.Command(leasehold, "serve", "--id", "n1")
	command.Env = append(os.Environ(), "LEASEHOLD_INITIAL_CLUSTER=n2=127.0.0.1:1")
	out, err := command.CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "--initial-cluster: does not name this node, n1")
	assert.Contains(t, string(out), "--data-dir: is required")
}
