//go:build jepsenbugs

package seeded

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// asked runs this test binary, which does nothing else then, with faults chosen.
func asked(chosen string) ([]byte, error) {
	self := exec.Command(os.Args[0], "-test.run=^TestSeededFaultsAreTold$", "-test.v")
	self.Env = append(os.Environ(), Variable+"="+chosen)
	return self.CombinedOutput()
}

func TestSeededFaultsAreChosenByTheEnvironment(t *testing.T) {
	out, err := asked(" watch-drop,,read-local ")
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), "sown: [read-local watch-drop]")
	out, err = asked("")
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), "sown: []")
}

func TestSeededFaultsThatAreUnknownEndTheProcess(t *testing.T) {
	out, err := asked("read-local,read-lokal")
	var ended *exec.ExitError
	require.ErrorAs(t, err, &ended)
	assert.Equal(t, 2, ended.ExitCode())
	assert.Contains(t, string(out), `LEASEHOLD_SEEDED_BUG: "read-lokal" is no seeded fault; there are ack-early, `)
}

func TestSeededFaultsAreTold(t *testing.T) { t.Logf("sown: %v", Sown()) }
