package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tourBlock matches a block of the README's tour: one to leave running, or one for the second terminal.
var tourBlock = regexp.MustCompile("(?ms)^```sh tour(:start)?\n(.*?)^```$")

// TestReadmeTour does what the README says, word for word but for the port, where the repository looks as it does.
func TestReadmeTour(t *testing.T) {
	t.Parallel()
	needKubectl(t)
	readme, err := os.ReadFile(filepath.Join(repository(t), "README.md"))
	require.NoError(t, err)
	var start, second string
	for _, block := range tourBlock.FindAllStringSubmatch(string(readme), -1) {
		if block[1] != "" {
			start += block[2]
		} else {
			second += block[2]
		}
	}
	require.Contains(t, start, "--base-port 7443", "the tour's port")
	start = strings.ReplaceAll(start, "7443", strconv.Itoa(freePorts(t)))
	clone := repositoryAnew(t)

	first := shell(t, clone, start)
	log, err := os.Create(filepath.Join(clone, "first-terminal"))
	require.NoError(t, err)
	defer log.Close()
	said := func() string {
		text, err := os.ReadFile(log.Name())
		require.NoError(t, err)
		return string(text)
	}
	first.Stdout, first.Stderr = log, log
	require.NoError(t, first.Start())
	t.Cleanup(func() {
		_ = syscall.Kill(-first.Process.Pid, syscall.SIGINT) // as Ctrl-C does, to all in the foreground
		_ = first.Wait()                                     // interrupted, as it should be
	})
	require.Eventually(t, func() bool { return strings.Contains(said(), "\nready") }, 2*patience, 50*time.Millisecond)

	out, err := shell(t, clone, second).CombinedOutput()
	require.NoError(t, err, "%s\n%s", out, said())
	t.Logf("the second terminal:\n%s", out)
	for _, line := range []string{"demo created", "holderIdentity: me", "demo patched", "demo   you", `"demo" deleted`} {
		assert.Contains(t, string(out), line)
	}
}

// shell is bash in its own process group, which stops at the first command that fails.
func shell(t *testing.T, dir, script string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 4*patience)
	t.Cleanup(cancel)
	command := exec.CommandContext(ctx, "bash", "-euxo", "pipefail", "-c", script)
	command.Dir, command.Env = dir, append(os.Environ(), "HOME="+dir, "PWD="+dir, "GOCACHE="+goEnv(t, "GOCACHE"), "GOMODCACHE="+goEnv(t, "GOMODCACHE"))
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return command
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

// repository is where the sources of the binary under test are.
func repository(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	require.NoError(t, err)
	return root
}

// repositoryAnew is a directory with all that the repository has but what earlier builds and runs left in it.
func repositoryAnew(t *testing.T) string {
	t.Helper()
	dir, root := t.TempDir(), repository(t)
	entries, err := os.ReadDir(root)
	require.NoError(t, err)
	for _, entry := range entries {
		if name := entry.Name(); name != "bin" && name != ".leasehold" {
			require.NoError(t, os.Symlink(filepath.Join(root, name), filepath.Join(dir, name)))
		}
	}
	return dir
}
