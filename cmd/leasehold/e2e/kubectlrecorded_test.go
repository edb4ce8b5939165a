package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// recordedMinor is the version of kubectl that the recorded outputs are from; the server was kube-apiserver 1.37.2.
const recordedMinor = 32

// recordedNamespace is the namespace in the recorded command lines and outputs.
const recordedNamespace = "km-test"

// recorded is a command line and what it came to.
type recorded struct {
	Name string
	Args []string
	printed
}

// printed is how a command ended and what it printed, normalised.
type printed struct {
	Code     int
	Out, Err string
}

// TestKubectlPrintsWhatKubeAPIServerMakesItPrint runs the recorded command lines one after the other, with each
// kubectl that is installed.
func TestKubectlPrintsWhatKubeAPIServerMakesItPrint(t *testing.T) {
	t.Parallel()
	all := kubectls(t)
	data, err := os.ReadFile(filepath.Join("testdata", "kubectl", "recorded", "commands.json"))
	require.NoError(t, err)
	var commands []recorded
	require.NoError(t, json.Unmarshal(data, &commands))
	require.NotEmpty(t, commands)
	c := startCluster(t)
	for _, turn := range c.turns(all) {
		t.Run(turn.String(), func(t *testing.T) {
			t.Parallel()
			r := newReplay(t, c, turn)
			equal := 0
			for _, command := range commands {
				want, got := turn.expect(command), r.run(command)
				if assert.Equal(t, want, got, "%s: kubectl %s", command.Name, strings.Join(command.Args, " ")) {
					equal++
				}
			}
			t.Logf("%d of %d equal", equal, len(commands))
		})
	}
}

// expect is what this kubectl prints where the recorded one printed what it did.
func (k kubectl) expect(command recorded) printed {
	want := command.printed
	want.Out, want.Err = normal(want.Out), normal(want.Err)
	if command.Name == "annotate" && k.minor < 28 {
		want.Out = strings.Replace(want.Out, "annotated", "annotate", 1)
	}
	want.Err = strings.Replace(want.Err, fmt.Sprintf("client (1.%d)", recordedMinor), fmt.Sprintf("client (%s)", k), 1)
	return want
}

// replay runs recorded command lines in a directory and a namespace of its own.
type replay struct {
	t         *testing.T
	kubectl   kubectl
	dir       string
	namespace string
	own       []substitution
}

func newReplay(t *testing.T, c *cluster, turn turn) *replay {
	t.Helper()
	r := &replay{t: t, kubectl: turn.kubectl, dir: t.TempDir(), namespace: "recorded-" + strings.ReplaceAll(turn.String(), ".", "-")}
	r.own = []substitution{
		{regexp.MustCompile(r.namespace), recordedNamespace},
		{regexp.MustCompile(regexp.QuoteMeta(r.dir) + `\S*`), "PATH"},
	}
	require.NoError(t, c.writeKubeconfig(filepath.Join(r.dir, "kubeconfig"), turn.context, ""))
	manifests, err := filepath.Glob(filepath.Join("testdata", "kubectl", "recorded", "*.yaml"))
	require.NoError(t, err)
	for _, manifest := range manifests {
		data, err := os.ReadFile(manifest)
		require.NoError(t, err)
		data = bytes.ReplaceAll(data, []byte(recordedNamespace), []byte(r.namespace))
		require.NoError(t, os.WriteFile(filepath.Join(r.dir, filepath.Base(manifest)), data, 0o600))
	}
	return r
}

func (r *replay) run(command recorded) printed {
	r.t.Helper()
	var args []string
	for _, arg := range command.Args {
		arg = strings.ReplaceAll(arg, recordedNamespace, r.namespace)
		if manifest, is := strings.CutPrefix(arg, "@"); is {
			arg = filepath.Join(r.dir, manifest)
		}
		args = append(args, arg)
	}
	var out, stderr bytes.Buffer
	run := exec.CommandContext(r.t.Context(), r.kubectl.path, args...)
	run.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(r.dir, "kubeconfig"), "HOME="+r.dir)
	run.Stdout, run.Stderr = &out, &stderr
	if err := run.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		require.NoError(r.t, err)
	}
	got := printed{run.ProcessState.ExitCode(), out.String(), stderr.String()}
	switch command.Name {
	case "version": // of ours and of kubectl's build
		got.Out = map[bool]string{true: "ok", false: got.Out}[strings.Contains(got.Out, "serverVersion")]
	case "api-versions": // of groups that are not here
		got.Out = strings.Join(regexp.MustCompile(`(?m)^coordination\.k8s\.io/.*$`).FindAllString(got.Out, -1), "\n")
	}
	got.Out, got.Err = normal(got.Out, r.own...), normal(got.Err, r.own...)
	return got
}
