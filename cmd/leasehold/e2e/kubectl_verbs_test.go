package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestKubectlsOtherVerbs(t *testing.T) {
	t.Parallel()
	needKubectl(t)
	c := startCluster(t)
	_, follower := c.leader()
	at := []string{"cluster", "node-1", "node-2", "node-3"}[follower]
	run := func(args ...string) string { return c.kubectl(at, append(args, "-n", "team-a")...) }
	field := func(path string) string { return run("get", "lease", "heartbeat", "-o", "jsonpath={"+path+"}") }
	c.kubectlInput(at, heartbeat, "create", "-f", "-")

	assert.Contains(t, run("version"), "Server Version: v1.37.2")
	assert.Regexp(t, `leases +coordination.k8s.io/v1 +true +Lease`, run("api-resources"))
	assert.Contains(t, run("explain", "lease.spec.holderIdentity"), "holderIdentity")
	assert.Regexp(t, `(?s)Name: +heartbeat.*Holder Identity: +me`, run("describe", "lease", "heartbeat"))

	for _, patch := range []struct{ kind, body, want string }{
		{"merge", `{"spec":{"holderIdentity":"merged"}}`, "merged"},
		{"json", `[{"op":"replace","path":"/spec/holderIdentity","value":"operated"}]`, "operated"},
		{"strategic", `{"spec":{"holderIdentity":"strategic"}}`, "strategic"},
	} {
		assert.Contains(t, run("patch", "lease", "heartbeat", "--type", patch.kind, "-p", patch.body), "patched")
		assert.Equal(t, patch.want, field(".spec.holderIdentity"), patch.kind)
	}

	assert.Contains(t, run("label", "lease", "heartbeat", "tier=gold"), "labeled")
	assert.Contains(t, run("annotate", "lease", "heartbeat", "note=kept"), "annotated")
	assert.Contains(t, run("get", "leases", "-l", "tier=gold", "-o", "name"), "heartbeat")
	assert.Equal(t, "kept", field(".metadata.annotations.note"))

	editor := filepath.Join(t.TempDir(), "editor")
	require.NoError(t, os.WriteFile(editor, []byte("#!/bin/sh\nsed -i 's/holderIdentity: .*/holderIdentity: edited/' \"$1\"\n"), 0o700))
	edit := c.kubectlCommand(at, "edit", "lease", "heartbeat", "-n", "team-a")
	edit.Env = append(edit.Env, "KUBE_EDITOR="+editor)
	out, err := edit.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Equal(t, "edited", field(".spec.holderIdentity"))

	current := run("get", "lease", "heartbeat", "-o", "yaml")
	assert.Contains(t, c.kubectlInput(at, current, "replace", "-f", "-"), "replaced")
	assert.Contains(t, c.kubectlInput(at, heartbeat, "apply", "--server-side", "--force-conflicts", "-f", "-"), "serverside-applied")
	assert.Equal(t, "me", field(".spec.holderIdentity"))
	assert.Contains(t, run("wait", "lease/heartbeat", "--for=jsonpath={.spec.holderIdentity}=me", "--timeout=30s"), "condition met")

	assert.Contains(t, run("delete", "leases", "-l", "tier=gold"), "deleted")
	assert.Contains(t, run("get", "leases"), "No resources found")
}
