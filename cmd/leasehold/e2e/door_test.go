package e2e

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// door is kubectl at one of a cluster's contexts, in a namespace of its own.
type door struct {
	t         *testing.T
	c         *cluster
	context   string
	namespace string
}

// doors returns the names of a follower's context, the leader's and the balancer's.
func (c *cluster) doors() map[string]string {
	c.t.Helper()
	leader, follower := c.leader()
	return map[string]string{
		"follower": fmt.Sprintf("node-%d", follower),
		"leader":   fmt.Sprintf("node-%d", leader),
		"balancer": "cluster",
	}
}

// command is a kubectl that has not been started.
func (d *door) command(args ...string) *exec.Cmd {
	return d.c.kubectlCommand(d.context, append([]string{"--namespace", d.namespace}, args...)...)
}

// try runs kubectl and returns its two outputs together, and how it ended.
func (d *door) try(args ...string) (string, error) {
	out, err := d.command(args...).CombinedOutput()
	return string(out), err
}

// run is try that must succeed.
func (d *door) run(args ...string) string {
	d.t.Helper()
	out, err := d.try(args...)
	require.NoError(d.t, err, "kubectl %s: %s", strings.Join(args, " "), out)
	return out
}

// refused is try that must fail.
func (d *door) refused(args ...string) string {
	d.t.Helper()
	out, err := d.try(args...)
	require.Error(d.t, err, "kubectl %s: %s", strings.Join(args, " "), out)
	return out
}

// field returns one field of a Lease, such as .spec.holderIdentity.
func (d *door) field(lease, path string) string {
	d.t.Helper()
	return d.run("get", "lease", lease, "-o", "jsonpath={"+path+"}")
}

// manifest writes a Lease to a file and returns the file's name.
func (d *door) manifest(name, holder string) string {
	d.t.Helper()
	path := filepath.Join(d.t.TempDir(), name+".yaml")
	require.NoError(d.t, os.WriteFile(path, fmt.Appendf(nil, `
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: %s, labels: {app: %s}}
spec: {holderIdentity: %s, leaseDurationSeconds: 40}
`, name, name, holder), 0o600))
	return path
}

// watch starts kubectl get -w, and returns a function that waits for the next line, blanks squeezed.
func (d *door) watch(args ...string) (next func() string) {
	d.t.Helper()
	watch := d.command(append([]string{"get", "leases", "-w"}, args...)...)
	out, err := watch.StdoutPipe()
	require.NoError(d.t, err)
	require.NoError(d.t, watch.Start())
	d.t.Cleanup(func() {
		_ = watch.Process.Kill() // fails when it has ended, which next has told
		_ = watch.Wait()         // killed, as it should be
	})
	lines := bufio.NewScanner(out)
	return func() string {
		d.t.Helper()
		require.True(d.t, lines.Scan(), "the watch ended")
		return strings.Join(strings.Fields(lines.Text()), " ")
	}
}
