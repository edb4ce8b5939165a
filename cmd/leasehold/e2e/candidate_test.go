package e2e

import (
	"bufio"
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// candidate is a process that takes part in an election.
type candidate struct {
	id   string
	cmd  *exec.Cmd
	mu   sync.Mutex // guards said
	said []string
	news chan struct{} // gets a value after something was said
}

// startCandidate runs a candidate that speaks to node k.
func (c *cluster) startCandidate(lease string, k int) *candidate {
	c.t.Helper()
	id := fmt.Sprintf("candidate-%d", k)
	return startCandidate(c.t, id, exec.Command(candidateBinary, "--kubeconfig", c.path("kubeconfig"),
		"--context", nodeName(k), "--id", id, "--lease", lease))
}

// startCandidate runs a command that takes part in an election and prints a line for what happens to it, until the end of
// the test.
func startCandidate(t *testing.T, id string, command *exec.Cmd) *candidate {
	t.Helper()
	one := &candidate{id: id, cmd: command, news: make(chan struct{}, 1)}
	out, err := one.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, one.cmd.Start())
	var reading sync.WaitGroup
	reading.Go(func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			one.mu.Lock()
			one.said = append(one.said, lines.Text())
			one.mu.Unlock()
			select {
			case one.news <- struct{}{}:
			default:
			}
		}
	})
	t.Cleanup(func() {
		_ = one.cmd.Process.Kill() // fails when the test has done it
		reading.Wait()
		_ = one.cmd.Wait()
	})
	return one
}

// startCandidates runs a candidate at each node; that of node first leads before the others come.
func (c *cluster) startCandidates(lease string, first int) map[int]*candidate {
	c.t.Helper()
	all := map[int]*candidate{first: c.startCandidate(lease, first)}
	all[first].await(c.t, "leading")
	for k := 1; k <= 3; k++ {
		if k != first {
			all[k] = c.startCandidate(lease, k)
			all[k].await(c.t, "sees "+all[first].id)
		}
	}
	return all
}

func (one *candidate) hasSaid(line string) bool {
	one.mu.Lock()
	defer one.mu.Unlock()
	for _, said := range one.said {
		if said == line {
			return true
		}
	}
	return false
}

func (one *candidate) await(t *testing.T, line string) {
	t.Helper()
	deadline := time.After(patience)
	for !one.hasSaid(line) {
		select {
		case <-one.news:
		case <-deadline:
			require.FailNow(t, one.id+" did not say "+line)
		}
	}
}

// candidateBinary is the path of the candidate, built once.
var candidateBinary string

func buildCandidate(dir string) ([]byte, error) {
	candidateBinary = filepath.Join(dir, "candidate")
	return exec.Command("go", "build", "-o", candidateBinary, "./candidate").CombinedOutput()
}
