package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/stretchr/testify/require"
)

// pause stops the clock of node k until resume. It returns when the node has stopped: the signal alone leaves threads
// running for as long as the machine is too busy to deliver it, and such a node still answers.
func (c *cluster) pause(k int) {
	c.t.Helper()
	c.signal(k, syscall.SIGSTOP)
	pid := c.pid(k)
	require.Eventually(c.t, func() bool { return isStopped(c, pid) }, patience, time.Millisecond)
}

func (c *cluster) resume(k int) {
	c.t.Helper()
	c.signal(k, syscall.SIGCONT)
}

// isStopped looks at the state of each thread, which /proc/PID/task/TID/stat tells after the name in brackets: proc(5).
func isStopped(c *cluster, pid int) bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	require.NoError(c.t, err)
	require.NotEmpty(c.t, threads)
	for _, thread := range threads {
		stat, err := os.ReadFile(thread)
		if err != nil {
			return false // it has ended since
		}
		if _, state, _ := bytes.Cut(stat, []byte(") ")); !bytes.HasPrefix(state, []byte("T")) {
			return false
		}
	}
	return true
}
