package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience is how long anything is waited for. Machines that run tests are busy.
const patience = 60 * time.Second

// cluster is a running leasehold dev.
type cluster struct {
	t    *testing.T
	dir  string
	port int
	size int // how many nodes
	dev  *exec.Cmd

	mu    sync.Mutex // guards lines
	lines []string   // what dev has printed
	news  chan struct{}
	ended chan struct{} // closed after err is set
	err   error
}

// startCluster runs a cluster of three nodes on free ports, with its files below a new directory, and stops it at the
// end of the test. More serve flags may follow.
func startCluster(t *testing.T, serveFlags ...string) *cluster {
	t.Helper()
	c := newCluster(t, t.TempDir(), freePorts(t))
	c.start(serveFlags...)
	return c
}

func newCluster(t *testing.T, dir string, port int) *cluster {
	return &cluster{t: t, dir: dir, port: port, size: 3}
}

// start runs dev and returns once it says that all nodes serve.
func (c *cluster) start(serveFlags ...string) {
	c.t.Helper()
	args := []string{"dev", "--dir", c.dir, "--base-port", strconv.Itoa(c.port)}
	if c.size != 3 {
		args = append(args, "--nodes", strconv.Itoa(c.size))
	}
	if len(serveFlags) > 0 {
		args = append(append(args, "--"), serveFlags...)
	}
	c.dev = exec.Command(leasehold, args...)
	c.lines, c.news, c.ended = nil, make(chan struct{}, 1), make(chan struct{})
	stdout, err := c.dev.StdoutPipe()
	require.NoError(c.t, err)
	var stderr bytes.Buffer
	c.dev.Stderr = &stderr
	require.NoError(c.t, c.dev.Start())
	dev, ended := c.dev, c.ended
	go func() {
		defer close(ended)
		c.read(stdout)
		if c.err = dev.Wait(); stderr.Len() > 0 {
			c.err = fmt.Errorf("%w: %s", c.err, stderr.String())
		}
	}()
	c.t.Cleanup(func() {
		_ = dev.Process.Signal(os.Interrupt)
		<-ended
		if c.t.Failed() {
			c.tellLogs()
		}
	})
	c.awaitLine("ready")
}

func (c *cluster) read(stdout io.Reader) {
	scanner := bufio.NewScanner(stdout)
	for scanner.Scan() {
		c.mu.Lock()
		c.lines = append(c.lines, scanner.Text())
		c.mu.Unlock()
		select {
		case c.news <- struct{}{}:
		default:
		}
	}
}

// said returns everything that dev has printed.
func (c *cluster) said() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.lines, "\n")
}

// awaitLine waits until dev has printed a line that starts with prefix.
func (c *cluster) awaitLine(prefix string) string {
	c.t.Helper()
	deadline := time.After(patience)
	for {
		for line := range strings.Lines(c.said()) {
			if strings.HasPrefix(line, prefix) {
				return strings.TrimSpace(line)
			}
		}
		select {
		case <-c.news:
		case <-c.ended:
			if !strings.Contains("\n"+c.said(), "\n"+prefix) {
				require.FailNow(c.t, "dev ended", "waiting for %q: %v\n%s", prefix, c.err, c.said())
			}
		case <-deadline:
			require.FailNow(c.t, "dev did not say "+prefix, c.said())
		}
	}
}

// stop interrupts dev as Ctrl-C does, and waits until it has stopped everything.
func (c *cluster) stop() {
	c.t.Helper()
	require.NoError(c.t, c.dev.Process.Signal(os.Interrupt))
	select {
	case <-c.ended:
		require.NoError(c.t, c.err, c.said())
	case <-time.After(patience):
		require.FailNow(c.t, "dev did not stop", c.said())
	}
}

// path returns one of the cluster's files.
func (c *cluster) path(parts ...string) string {
	return filepath.Join(append([]string{c.dir}, parts...)...)
}

func (c *cluster) file(parts ...string) string {
	c.t.Helper()
	data, err := os.ReadFile(c.path(parts...))
	require.NoError(c.t, err)
	return strings.TrimSpace(string(data))
}

// pid returns the process of node k.
func (c *cluster) pid(k int) int {
	c.t.Helper()
	pid, err := strconv.Atoi(c.file(fmt.Sprintf("node-%d", k), "pid"))
	require.NoError(c.t, err)
	return pid
}

// signal sends a signal to node k: SIGKILL kills it, SIGSTOP pauses it.
func (c *cluster) signal(k int, signal syscall.Signal) {
	c.t.Helper()
	require.NoError(c.t, syscall.Kill(c.pid(k), signal))
}

// kill kills node k as kill -9 does, and waits until dev has noticed.
func (c *cluster) kill(k int) {
	c.t.Helper()
	ended := c.nextEnd(k)
	c.signal(k, syscall.SIGKILL)
	require.Eventually(c.t, ended, patience, 10*time.Millisecond)
}

// nextEnd returns a function that tells whether dev has reported since that node k ended.
func (c *cluster) nextEnd(k int) func() bool {
	report := fmt.Sprintf("node-%d: ended", k)
	before := strings.Count(c.said(), report)
	return func() bool { return strings.Count(c.said(), report) > before }
}

// restart starts node k again, and waits until it serves.
func (c *cluster) restart(k int) {
	c.t.Helper()
	require.NoError(c.t, c.tryRestart(k))
}

func (c *cluster) tryRestart(k int) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, leasehold, "dev", "restart", strconv.Itoa(k), "--dir", c.dir).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// node is what leasehold status tells of a node.
type node struct {
	ID           string `json:"id"`
	URL          string `json:"url"`
	Role         string `json:"role"`
	Term         uint64 `json:"term"`
	Revision     uint64 `json:"revision"`
	AppliedIndex uint64 `json:"appliedIndex"`
	FirstIndex   uint64 `json:"firstIndex"` // of the log
	HashIndex    uint64 `json:"hashIndex"`
	Hash         string `json:"hash"`
	Ready        bool   `json:"ready"`
	Error        string `json:"error"`
}

// status returns what each node says; node K is at K-1.
func (c *cluster) status() []node {
	c.t.Helper()
	out, err := exec.Command(leasehold, "status", "--kubeconfig", c.path("kubeconfig"), "-o", "json").Output()
	require.NoError(c.t, err)
	var nodes []node
	require.NoError(c.t, json.Unmarshal(out, &nodes))
	return nodes
}

// leader returns the number of the node that leads, and a number that does not.
func (c *cluster) leader() (leader, follower int) {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		leader, follower = 0, 0
		for i, n := range c.status() {
			switch {
			case n.Role == "leader" && n.Ready:
				leader = i + 1
			case n.Role == "follower" && n.Ready:
				follower = i + 1
			}
		}
		return leader != 0 && follower != 0
	}, patience, 50*time.Millisecond)
	return leader, follower
}

func (c *cluster) tellLogs() {
	c.t.Logf("dev said:\n%s", c.said())
	for k := 1; k <= c.size; k++ {
		log := c.file(fmt.Sprintf("node-%d", k), "log")
		c.t.Logf("node-%d logged, at the end:\n%s", k, log[max(0, len(log)-4000):])
	}
}

// kubectl runs kubectl with one of the cluster's contexts, and returns what it printed; it must succeed.
func (c *cluster) kubectl(context string, args ...string) string {
	c.t.Helper()
	out, err := c.tryKubectl(context, "", args...)
	require.NoError(c.t, err, "kubectl %s: %s", strings.Join(args, " "), out)
	return out
}

// kubectlInput is kubectl with something on its standard input.
func (c *cluster) kubectlInput(context, input string, args ...string) string {
	c.t.Helper()
	out, err := c.tryKubectl(context, input, args...)
	require.NoError(c.t, err, "kubectl %s: %s", strings.Join(args, " "), out)
	return out
}

// tryKubectl is kubectl that may fail. Its two outputs come together.
func (c *cluster) tryKubectl(context, input string, args ...string) (string, error) {
	c.t.Helper()
	command := c.kubectlCommand(context, args...)
	command.Stdin = strings.NewReader(input)
	out, err := command.CombinedOutput()
	return string(out), err
}

// kubectlCommand is a kubectl that has not been started. The test skips where there is none, unless
// LEASEHOLD_E2E_REQUIRE_KUBECTL is set.
func (c *cluster) kubectlCommand(at string, args ...string) *exec.Cmd {
	c.t.Helper()
	needKubectl(c.t)
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	c.t.Cleanup(cancel)
	args = append([]string{"--kubeconfig", c.path("kubeconfig"), "--context", at, "--cache-dir", c.path("kubectl-cache-" + at)}, args...)
	command := exec.CommandContext(ctx, kubectlName(), args...)
	command.Env = append(os.Environ(), "HOME="+c.dir)
	return command
}

// portSlots are the ranges of ports that freePorts tries: below those that the kernel gives to outgoing connections.
const (
	firstPort = 20000
	portSlot  = 200
	portSlots = 60
)

// nextSlot keeps the tests of this process, which run side by side, off each other's ports.
var nextSlot atomic.Int64

// freePorts returns a base port such that all ports that dev uses from there on are free.
func freePorts(t *testing.T) int {
	t.Helper()
	for range portSlots {
		slot := (int64(os.Getpid()) + nextSlot.Add(1)) % portSlots
		if base := firstPort + int(slot)*portSlot; portsAreFree(base) {
			return base
		}
	}
	require.FailNow(t, "no free ports")
	return 0
}

func portsAreFree(base int) bool {
	for _, offset := range []int{0, 1, 2, 50, 100, 101, 102} {
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(base+offset)))
		if err != nil {
			return false
		}
		listener.Close()
	}
	return true
}
