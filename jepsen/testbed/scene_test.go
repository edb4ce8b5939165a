package testbed_test

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/jepsen/nemesis"
	"github.com/leasehold/leasehold/jepsen/testbed"
)

// A scene is this test's own program run once more, as a harness that can be killed.
const (
	sceneMode   = "TESTBED_SCENE_MODE" // what it enters; every other run of the program enters Auto
	sceneDir    = "TESTBED_SCENE_DIR"
	sceneBinary = "TESTBED_SCENE_BINARY"
)

// TestScene is what a scene does: it opens a testbed, proves that it works, and waits to be killed.
func TestScene(t *testing.T) {
	mode := testbed.Mode(os.Getenv(sceneMode))
	if mode == "" {
		t.Skip("this is for TestNothingOutlivesAHarnessThatIsKilled")
	}
	b, err := testbed.Open(t.Context(), testbed.Options{Binary: os.Getenv(sceneBinary), Dir: os.Getenv(sceneDir), Mode: mode, Nodes: 2})
	require.NoError(t, err)
	require.Equal(t, mode, b.Mode())
	require.NoError(t, b.Link("n1", nemesis.Client, nemesis.Condition{Delay: time.Millisecond}))
	response, err := b.Client("n1").Get(b.URL("n1") + "/livez")
	require.NoError(t, err)
	response.Body.Close()
	require.NoError(t, b.Pause("n2"))
	_, _ = os.Stdout.WriteString("\nplaying\n")
	select {}
}

func TestNothingOutlivesAHarnessThatIsKilled(t *testing.T) {
	for _, mode := range []testbed.Mode{testbed.Proxy, testbed.UserNS, testbed.Root} {
		t.Run(string(mode), func(t *testing.T) {
			dir := t.TempDir()
			cmd := exec.Command(os.Args[0], "-test.run", "^TestScene$", "-test.v")
			for _, setting := range os.Environ() {
				if !strings.HasPrefix(setting, "JEPSEN_") {
					cmd.Env = append(cmd.Env, setting)
				}
			}
			cmd.Env = append(cmd.Env, sceneMode+"="+string(mode), sceneDir+"="+dir, sceneBinary+"="+binary)
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			cmd.Stderr = cmd.Stdout
			require.NoError(t, cmd.Start())
			playing, said := false, ""
			for lines := bufio.NewScanner(out); !playing && lines.Scan(); {
				said += lines.Text() + "\n"
				playing = lines.Text() == "playing"
			}
			if !playing {
				_ = cmd.Wait()
				if strings.Contains(said, "is not possible here") {
					t.Skip(said)
				}
				require.Fail(t, "the scene did not play", said)
			}
			assert.NotEmpty(t, serversUnder(t, dir))

			require.NoError(t, cmd.Process.Kill())
			require.Error(t, cmd.Wait())
			require.Eventually(t, func() bool { return len(serversUnder(t, dir)) == 0 }, patience, 10*time.Millisecond)
			require.Eventually(t, func() bool { return len(loopsUnder(t, dir)) == 0 }, patience, 10*time.Millisecond)
		})
	}
}
