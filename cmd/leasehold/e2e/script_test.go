package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// script is a program in another language that checks what a client of that language makes of our answers.
type script struct {
	command []string // interpreter and file, or what else comes before the topics
	env     []string // beside this process's own
}

// report is what a script prints of each of its checks, as one line of JSON.
type report struct {
	Check string `json:"check"`
	Fault string `json:"fault"` // empty when all was as it should be
}

// check runs a script over some of its topics against a cluster. Each of its checks becomes a subtest, and there must be
// exactly as many as wanted: one that is never run would show nothing.
func (s script) check(t *testing.T, c *cluster, wanted int, topics ...string) {
	t.Helper()
	command := s.start(t, c, topics...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	stdout, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	checked := 0
	for lines := bufio.NewScanner(stdout); lines.Scan(); checked++ {
		var one report
		require.NoError(t, json.Unmarshal(lines.Bytes(), &one), "the script printed %q", lines.Text())
		t.Run(one.Check, func(t *testing.T) { assert.Empty(t, one.Fault) })
	}
	require.NoError(t, command.Wait(), "after %d checks: %s", checked, &stderr)
	assert.Equal(t, wanted, checked, "checks")
}

// start prepares a script that knows the cluster's directory, and how to call the binary under test.
func (s script) start(t *testing.T, c *cluster, arguments ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*patience)
	t.Cleanup(cancel)
	command := exec.CommandContext(ctx, s.command[0], slices.Concat(s.command[1:], arguments)...)
	command.Env = slices.Concat(os.Environ(), s.env, []string{"LEASEHOLD=" + leasehold, "LEASEHOLD_DEV_DIR=" + c.dir})
	return command
}

// lackClient ends a test that needs a client which is not installed. It skips, unless LEASEHOLD_E2E_REQUIRE_CLIENTS is set.
func lackClient(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("LEASEHOLD_E2E_REQUIRE_CLIENTS") != "" {
		t.Fatal(what + ", and LEASEHOLD_E2E_REQUIRE_CLIENTS asks for it: .ci/clients installs it")
	}
	t.Skip(what + ": this test shows nothing here; .ci/clients installs it")
}
