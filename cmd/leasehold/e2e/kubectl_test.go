package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const heartbeat = `
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: heartbeat, namespace: team-a}
spec: {holderIdentity: me, leaseDurationSeconds: 40}
`

// TestKubectlThroughEveryDoor runs every verb that kubectl has for Leases.
func TestKubectlThroughEveryDoor(t *testing.T) {
	t.Parallel()
	needKubectl(t)
	c := startCluster(t)
	verbs := map[string]func(*door){
		"discover":    kubectlDiscovers,
		"read":        kubectlReads,
		"watch":       kubectlWatches,
		"patch":       kubectlPatches,
		"label":       kubectlLabels,
		"edit":        kubectlEdits,
		"replace":     kubectlReplaces,
		"wait":        kubectlWaits,
		"delete":      kubectlDeletes,
		"apply":       kubectlApplies,
		"server-side": kubectlAppliesOnTheServer,
	}
	for role, context := range c.doors() {
		for verb, test := range verbs {
			t.Run(role+"/"+verb, func(t *testing.T) {
				test(&door{t: t, c: c, context: context, namespace: role + "-" + verb})
			})
		}
	}
}

func kubectlDiscovers(d *door) {
	assert.Contains(d.t, d.run("version", "-o", "yaml"), "gitVersion: v1.37.2\n")
	assert.Regexp(d.t, `leases +coordination.k8s.io/v1 +true +Lease`, d.run("api-resources", "--api-group", "coordination.k8s.io"))
	assert.Contains(d.t, d.run("api-versions"), "coordination.k8s.io/v1\n")
	assert.Contains(d.t, d.run("explain", "lease.spec"), "holderIdentity\t<string>")
	assert.Contains(d.t, d.run("explain", "leases", "--recursive"), "renewTime\t<string>")
}

func kubectlReads(d *door) {
	assert.Contains(d.t, d.run("get", "leases"), "No resources found in "+d.namespace)
	assert.Contains(d.t, d.refused("get", "lease", "heartbeat"), `leases.coordination.k8s.io "heartbeat" not found`)
	assert.Equal(d.t, "lease.coordination.k8s.io/heartbeat created\n", d.run("create", "-f", d.manifest("heartbeat", "me")))
	assert.Contains(d.t, d.refused("create", "-f", d.manifest("heartbeat", "me")), `leases.coordination.k8s.io "heartbeat" already exists`)

	assert.Regexp(d.t, `^NAME +HOLDER +AGE\nheartbeat +me +\d+s\n$`, d.run("get", "leases"))
	assert.Regexp(d.t, `(?m)^NAMESPACE +NAME +HOLDER +AGE$`, d.run("get", "leases", "--all-namespaces"))
	assert.Equal(d.t, "lease.coordination.k8s.io/heartbeat\n", d.run("get", "leases", "-o", "name"))
	yaml := d.run("get", "lease", "heartbeat", "-o", "yaml")
	assert.Contains(d.t, yaml, "kind: Lease\n")
	assert.Contains(d.t, yaml, "  holderIdentity: me\n  leaseDurationSeconds: 40\n")
	assert.NotContains(d.t, yaml, "managedFields")
	assert.Contains(d.t, d.run("get", "lease", "heartbeat", "-o", "yaml", "--show-managed-fields"), "manager: kubectl-create")
	assert.Regexp(d.t, `(?m)^  Holder Identity: +me$`, d.run("describe", "lease", "heartbeat"))
}

func kubectlWatches(d *door) {
	next := d.watch("--output-watch-events")
	d.run("create", "-f", d.manifest("heartbeat", "me"))
	assert.Equal(d.t, "EVENT NAME HOLDER AGE", next())
	assert.Regexp(d.t, `^ADDED heartbeat me \d+s$`, next())
	d.run("patch", "lease", "heartbeat", "--patch", `{"spec":{"holderIdentity":"you"}}`)
	assert.Regexp(d.t, `^MODIFIED heartbeat you \d+s$`, next())
	d.run("delete", "lease", "heartbeat")
	assert.Regexp(d.t, `^DELETED heartbeat you \d+s$`, next())
}

func kubectlPatches(d *door) {
	d.run("create", "-f", d.manifest("heartbeat", "me"))
	for kind, patch := range map[string]string{
		"json":      `[{"op":"test","path":"/spec/leaseDurationSeconds","value":40},{"op":"replace","path":"/spec/holderIdentity","value":"json"}]`,
		"merge":     `{"metadata":{"labels":{"app":null}},"spec":{"holderIdentity":"merge"}}`,
		"strategic": `{"metadata":{"finalizers":["example.com/keep"]},"spec":{"holderIdentity":"strategic"}}`,
	} {
		patched := d.run("patch", "lease", "heartbeat", "--type", kind, "--patch", patch)
		assert.Equal(d.t, "lease.coordination.k8s.io/heartbeat patched\n", patched)
		assert.Equal(d.t, kind, d.field("heartbeat", ".spec.holderIdentity"))
	}
	assert.Empty(d.t, d.field("heartbeat", ".metadata.labels"))
	assert.Equal(d.t, `["example.com/keep"]`, d.field("heartbeat", ".metadata.finalizers"))
	assert.Contains(d.t, d.run("patch", "lease", "heartbeat", "--patch", `{"spec":{"leaseDurationSeconds":40}}`), "(no change)")
	assert.Contains(d.t, d.refused("patch", "lease", "heartbeat", "--patch", `{"spec":{"leaseDurationSeconds":0}}`),
		"spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0")
}

func kubectlLabels(d *door) {
	d.run("create", "-f", d.manifest("a", "me"))
	d.run("create", "-f", d.manifest("b", "me"))
	assert.Contains(d.t, d.run("label", "lease", "a", "tier=edge"), "labeled")
	assert.Contains(d.t, d.refused("label", "lease", "a", "tier=core"), "already has a value (edge)")
	assert.Equal(d.t, "lease.coordination.k8s.io/a\n", d.run("get", "leases", "-l", "tier in (edge,core)", "-o", "name"))
	assert.Equal(d.t, "lease.coordination.k8s.io/b\n", d.run("get", "leases", "--field-selector", "metadata.name!=a", "-o", "name"))
	assert.Contains(d.t, d.run("label", "lease", "a", "tier-"), "unlabeled")
	assert.Contains(d.t, d.run("get", "leases", "-l", "tier"), "No resources found")
	assert.Contains(d.t, d.run("annotate", "lease", "a", "note=two words"), "annotate")
	assert.Equal(d.t, "two words", d.field("a", ".metadata.annotations.note"))
}

func kubectlEdits(d *door) {
	d.run("create", "-f", d.manifest("heartbeat", "me"))
	editor := filepath.Join(d.t.TempDir(), "editor")
	require.NoError(d.t, os.WriteFile(editor, []byte("#!/bin/sh\nsed -i 's/holderIdentity: me/holderIdentity: edited/' \"$1\"\n"), 0o700))
	edit := d.command("edit", "lease", "heartbeat")
	edit.Env = append(edit.Env, "KUBE_EDITOR="+editor)
	out, err := edit.CombinedOutput()
	require.NoError(d.t, err, "%s", out)
	assert.Equal(d.t, "lease.coordination.k8s.io/heartbeat edited\n", string(out))
	assert.Equal(d.t, "edited", d.field("heartbeat", ".spec.holderIdentity"))
}

func kubectlReplaces(d *door) {
	manifest := d.manifest("heartbeat", "me")
	assert.Contains(d.t, d.run("replace", "-f", manifest), "replaced", "a PUT to a name that is missing creates")
	uid := d.field("heartbeat", ".metadata.uid")
	assert.Contains(d.t, d.run("replace", "-f", d.manifest("heartbeat", "you")), "replaced")
	assert.Equal(d.t, "you", d.field("heartbeat", ".spec.holderIdentity"))
	assert.Equal(d.t, uid, d.field("heartbeat", ".metadata.uid"))
	assert.Contains(d.t, d.run("replace", "--force", "-f", manifest), "replaced")
	assert.NotEqual(d.t, uid, d.field("heartbeat", ".metadata.uid"), "--force deletes and creates")
}

func kubectlWaits(d *door) {
	d.run("create", "-f", d.manifest("heartbeat", "me"))
	changed := d.command("wait", "lease/heartbeat", "--for", "jsonpath={.spec.holderIdentity}=you", "--timeout", patience.String())
	gone := d.command("wait", "lease/heartbeat", "--for", "delete", "--timeout", patience.String())
	require.NoError(d.t, changed.Start())
	d.run("patch", "lease", "heartbeat", "--patch", `{"spec":{"holderIdentity":"you"}}`)
	require.NoError(d.t, changed.Wait())
	require.NoError(d.t, gone.Start())
	d.run("delete", "lease", "heartbeat")
	require.NoError(d.t, gone.Wait())
	assert.Contains(d.t, d.refused("wait", "lease/heartbeat", "--for", "jsonpath={.spec.holderIdentity}=you"), "not found")
}

func kubectlDeletes(d *door) {
	for _, name := range []string{"a", "b", "c", "d"} {
		d.run("create", "-f", d.manifest(name, "me"))
	}
	assert.Contains(d.t, d.run("delete", "lease", "a"), `lease.coordination.k8s.io "a" deleted`)
	assert.Contains(d.t, d.refused("delete", "lease", "a"), "not found")
	assert.Equal(d.t, "", d.run("delete", "lease", "a", "--ignore-not-found"))
	assert.Contains(d.t, d.run("delete", "leases", "-l", "app in (b,c)"), `"c" deleted`)
	assert.Equal(d.t, "lease.coordination.k8s.io/d\n", d.run("get", "leases", "-o", "name"))
	assert.Contains(d.t, d.run("delete", "leases", "--all"), `"d" deleted`)
}

func kubectlApplies(d *door) {
	mine, yours := d.manifest("heartbeat", "me"), d.manifest("heartbeat", "you")
	assert.Contains(d.t, d.run("apply", "-f", mine), "created")
	assert.Contains(d.t, d.run("apply", "-f", mine), "unchanged")
	assert.Empty(d.t, d.run("diff", "-f", mine))
	diff, err := d.try("diff", "-f", yours)
	assert.EqualError(d.t, err, "exit status 1", "1 tells that there is a difference, more an error")
	assert.Contains(d.t, diff, "\n-  holderIdentity: me\n+  holderIdentity: you\n")
	assert.Contains(d.t, d.run("apply", "--dry-run=server", "-f", yours), "configured (server dry run)")
	assert.Equal(d.t, "me", d.field("heartbeat", ".spec.holderIdentity"))
	assert.Contains(d.t, d.run("apply", "-f", yours), "configured")
	assert.Equal(d.t, "you", d.field("heartbeat", ".spec.holderIdentity"))
}

func kubectlAppliesOnTheServer(d *door) {
	mine, yours := d.manifest("heartbeat", "me"), d.manifest("heartbeat", "you")
	assert.Contains(d.t, d.run("apply", "--server-side", "-f", mine), "serverside-applied")
	revision := d.field("heartbeat", ".metadata.resourceVersion")
	d.run("apply", "--server-side", "-f", mine)
	assert.Equal(d.t, revision, d.field("heartbeat", ".metadata.resourceVersion"), "the same again is no change")
	conflict := d.refused("apply", "--server-side", "--field-manager", "other", "-f", yours)
	assert.Contains(d.t, conflict, `Apply failed with 1 conflict: conflict with "kubectl": .spec.holderIdentity`)
	d.run("apply", "--server-side", "--field-manager", "other", "--force-conflicts", "-f", yours)
	assert.Equal(d.t, "you", d.field("heartbeat", ".spec.holderIdentity"))
	assert.Equal(d.t, "kubectl other", d.field("heartbeat", ".metadata.managedFields[*].manager"))
}

func TestOthersServeWhenAnyNodeIsKilled(t *testing.T) {
	t.Parallel()
	needKubectl(t)
	c := startCluster(t)
	leader, _ := c.leader()
	c.kill(leader)
	c.leader()
	c.kubectlInput("cluster", heartbeat, "create", "-f", "-")
	for k := 1; k <= 3; k++ {
		if k != leader {
			assert.Contains(t, c.kubectl(fmt.Sprintf("node-%d", k), "get", "leases", "-n", "team-a", "-o", "name"), "heartbeat")
		}
	}
	c.restart(leader)
	assert.Contains(t, c.kubectl(fmt.Sprintf("node-%d", leader), "get", "leases", "-n", "team-a", "-o", "name"), "heartbeat")
}
