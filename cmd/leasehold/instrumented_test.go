package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// builtWith returns this command's binary, built with further arguments.
func builtWith(t *testing.T, more ...string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "leasehold")
	command := exec.Command("go", append(append([]string{"build", "-o", path}, more...), "./cmd/leasehold")...)
	command.Dir = repository
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s", out)
	binary, err := os.ReadFile(path)
	require.NoError(t, err)
	return binary
}

// marks are what an instrumented binary says and nobody else does: the names of faults, of functions that only they call,
// and of variables of the environment.
func marks(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, at := range []struct{ file, pattern string }{
		{"fsm/seeded/instrumented.go", `"([a-z-]+)": +&`},
		{"fsm/seeded/instrumented.go", `"(LEASEHOLD_\w+)"`},
		{"httpapi/wallclock/instrumented.go", `"(LEASEHOLD_\w+)"`},
		{"cluster/seeded.go", `func \(\w+ (\*\w+)\) (\w+)\(`},
	} {
		text, err := os.ReadFile(filepath.Join(repository, at.file))
		require.NoError(t, err)
		found := regexp.MustCompile(at.pattern).FindAllSubmatch(text, -1)
		require.NotEmpty(t, found, at)
		for _, parts := range found {
			mark := string(parts[1])
			if len(parts) == 3 {
				mark = "cluster.(" + mark + ")." + string(parts[2])
			}
			if mark != "retry-after" { // is in every binary: it is a header's name
				all = append(all, mark)
			}
		}
	}
	require.Greater(t, len(all), 20)
	return all
}

func TestReleasesHoldNothingOfTheSeededFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("builds two binaries")
	}
	release, instrumented := builtWith(t), builtWith(t, "-tags", "jepsenbugs")
	for _, mark := range marks(t) {
		assert.False(t, bytes.Contains(release, []byte(mark)), "the release says %s", mark)
		assert.True(t, bytes.Contains(instrumented, []byte(mark)), "the instrumented binary does not say %s, then the test shows nothing", mark)
	}
}

func TestVersionTellsInstrumentedBinariesApart(t *testing.T) {
	for _, instrumented := range []bool{false, true} {
		for _, output := range []string{"text", "json"} {
			b := thisBuild()
			b.Instrumented = instrumented
			var told bytes.Buffer
			require.NoError(t, printVersion(&told, b, output))
			assert.Equal(t, instrumented, bytes.Contains(told.Bytes(), []byte("instrumented")), "%s", told.Bytes())
		}
	}
}
