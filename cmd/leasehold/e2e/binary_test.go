package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// leasehold is the path of the binary under test, built once from this repository.
var leasehold string

func TestMain(m *testing.M) {
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "leasehold-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	leasehold = filepath.Join(dir, "leasehold")
	build := exec.Command("go", "build", "-o", leasehold, "./cmd/leasehold")
	build.Dir = filepath.Join("..", "..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the binary: %v\n%s", err, out)
		return 1
	}
	if out, err := buildCandidates(dir); err != nil {
		fmt.Fprintf(os.Stderr, "build the candidates: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

func TestVersionTellsOursAndKubernetes(t *testing.T) {
	out, err := exec.Command(leasehold, "version").CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), "leasehold v0.1.0")
	assert.Contains(t, string(out), "Kubernetes API v1.37.2")
}
