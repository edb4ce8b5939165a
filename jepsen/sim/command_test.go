package sim

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRunNeedsNoTest(t *testing.T) {
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), asCommand+"=1")
	out, err := command.CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Regexp(t, `^PASS 2m\d+s simulated in .*$`, string(out), "nothing else is printed")
}
