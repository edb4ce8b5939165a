package e2e

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// candidate is a process that takes part in an election.
type candidate struct {
	id  string
	cmd *exec.Cmd
	out *transcript
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
	one := &candidate{id: id, cmd: command, out: newTranscript()}
	out, err := one.cmd.StdoutPipe()
	require.NoError(t, err)
	var stderr bytes.Buffer
	if one.cmd.Stderr == nil { // else the test reads it
		one.cmd.Stderr = &stderr
	}
	require.NoError(t, one.cmd.Start())
	var reading sync.WaitGroup
	reading.Go(func() { one.out.read(out) })
	t.Cleanup(func() {
		_ = one.cmd.Process.Kill() // fails when the test has done it
		reading.Wait()
		_ = one.cmd.Wait()
		if t.Failed() {
			lines, _ := one.out.said()
			t.Logf("%s said %q, and of errors: %s", id, lines, &stderr)
		}
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
	lines, _ := one.out.said()
	return slices.Contains(lines, line)
}

func (one *candidate) await(t *testing.T, line string) {
	t.Helper()
	said := one.out.await(func(lines []string) bool { return slices.Contains(lines, line) })
	require.True(t, said, "%s did not say %s", one.id, line)
}

// candidateBinary and managerBinary are paths of what takes part in elections, built once.
var candidateBinary, managerBinary string

func buildCandidates(dir string) ([]byte, error) {
	candidateBinary, managerBinary = filepath.Join(dir, "candidate"), filepath.Join(dir, "manager")
	return exec.Command("go", "build", "-o", dir, "./candidate", "./manager").CombinedOutput()
}
