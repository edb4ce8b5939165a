//go:build jepsenbugs

package wallclock

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestInstrumentedClockIsOffByWhatTheFileSays(t *testing.T) {
	s := shifted{path: filepath.Join(t.TempDir(), "offset")}
	now := time.Now()
	assert.Zero(t, s.now(now).Sub(now.Round(0)), "no file")
	for i, step := range []struct {
		text   string
		offset time.Duration
	}{{"1h\n", time.Hour}, {"-90s", -90 * time.Second}, {"-9", -90 * time.Second}, {"", -90 * time.Second}, {"0", 0}} {
		require.NoError(t, os.WriteFile(s.path, []byte(step.text), 0o600))
		later := now.Add(time.Duration(i+1) * time.Second)
		assert.Equal(t, step.offset, s.now(later).Sub(later.Round(0)), "%q", step.text)
	}
}

func TestInstrumentedClockIsRightWithoutAFile(t *testing.T) {
	var s shifted
	now := time.Now()
	assert.Equal(t, now, s.now(now))
}
