package e2e

import (
	"bufio"
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
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
	one := &candidate{id: fmt.Sprintf("candidate-%d", k), news: make(chan struct{}, 1)}
	one.cmd = exec.Command(candidateBinary, "--kubeconfig", c.path("kubeconfig"),
		"--context", fmt.Sprintf("node-%d", k), "--id", one.id, "--lease", lease)
	out, err := one.cmd.StdoutPipe()
	require.NoError(c.t, err)
	require.NoError(c.t, one.cmd.Start())
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
	c.t.Cleanup(func() {
		_ = one.cmd.Process.Kill() // fails when the test has done it
		reading.Wait()
		_ = one.cmd.Wait()
	})
	return one
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

func TestLeaseLockSurvivesTheLossOfTheLeader(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	leader, follower := c.leader()
	holder := c.startCandidate("survivor", follower)
	holder.await(t, "leading")
	c.kill(leader)
	next, _ := c.leader()
	require.NotEqual(t, leader, next)

	// The lock is worth what it says only after renewals that went through the new leader.
	before := c.status()[follower-1].Revision
	require.Eventually(t, func() bool { return c.status()[follower-1].Revision >= before+3 }, patience, 200*time.Millisecond)
	assert.False(t, holder.hasSaid("lost"))
}

func TestLockOfAKilledHolderGoesToAnotherCandidate(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	candidates := []*candidate{c.startCandidate("contended", 1)}
	candidates[0].await(t, "leading")
	for k := 2; k <= 3; k++ {
		candidates = append(candidates, c.startCandidate("contended", k))
		candidates[k-1].await(t, "sees candidate-1")
	}
	require.NoError(t, candidates[0].cmd.Process.Kill())
	killed := time.Now()
	require.Eventually(t, func() bool {
		return candidates[1].hasSaid("leading") || candidates[2].hasSaid("leading")
	}, patience, 50*time.Millisecond)
	t.Logf("the next holder leads %s after the kill", time.Since(killed))
	assert.False(t, candidates[1].hasSaid("leading") && candidates[2].hasSaid("leading"))
}

// candidateBinary is the path of the candidate, built once.
var candidateBinary string

func buildCandidate(dir string) ([]byte, error) {
	candidateBinary = filepath.Join(dir, "candidate")
	return exec.Command("go", "build", "-o", candidateBinary, "./candidate").CombinedOutput()
}
