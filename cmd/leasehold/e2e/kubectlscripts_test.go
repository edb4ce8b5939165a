package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestKubectlScripts runs the sessions at a terminal that testdata/kubectl/scripts holds: what is typed, what must come
// of it. Each has a namespace of its own, $NAMESPACE, which its kubeconfig names. Beside testscript's own commands there
// are:
//
//	[!] kubectl ARGS... [<FILE]   run it; with ! it must end with exit status 1
//	exits CODE ARGS...            run kubectl; it must end with that exit status
//	let NAME ARGS...              run kubectl and keep what it printed as $NAME
//	follow NAME ARGS...           start kubectl, to be followed by
//	next NAME REGEXP              wait for its next line, which must match
//	told NAME REGEXP              wait for a line that matches on its standard error
//	[!] ended NAME                wait for its end, which must be success
//
// What kubectl prints is readable: see there. The condition [1.31] holds for
// kubectl 1.31 and newer.
func TestKubectlScripts(t *testing.T) {
	t.Parallel()
	some := thorough(kubectls(t))
	c := startCluster(t)
	for _, turn := range c.turns(some) {
		t.Run(turn.String(), func(t *testing.T) {
			testscript.Run(t, testscript.Params{
				Dir:                filepath.Join("testdata", "kubectl", "scripts"),
				RequireUniqueNames: true,
				Setup:              func(env *testscript.Env) error { return c.setUpScript(env, turn) },
				Condition: func(condition string) (bool, error) {
					minor, err := strconv.Atoi(strings.TrimPrefix(condition, "1."))
					return turn.minor >= minor, err
				},
				Cmds: map[string]func(*testscript.TestScript, bool, []string){
					"kubectl": runKubectl,
					"exits":   exitsKubectl,
					"let":     letKubectl,
					"follow":  followKubectl,
					"next":    nextLine,
					"told":    toldLine,
					"ended":   endedFollowing,
				},
			})
		})
	}
}

// kubectlKey finds the path of a script's kubectl among its values.
type kubectlKey struct{}

func (c *cluster) setUpScript(env *testscript.Env, turn turn) error {
	script := strings.TrimPrefix(filepath.Base(env.WorkDir), "script-")
	namespace := script + "-" + strings.ReplaceAll(turn.String(), ".", "-")
	env.Values[kubectlKey{}] = turn.path
	env.Values[followersKey{}] = map[string]*follower{}
	env.Setenv("NAMESPACE", namespace)
	env.Setenv("HOME", env.WorkDir)
	env.Setenv("KUBECONFIG", filepath.Join(env.WorkDir, "kubeconfig"))
	env.Setenv("EDITOR", filepath.Join(env.WorkDir, "editor")) // where a script has one
	env.Setenv("USER_TOKEN", c.file("user.token"))
	return c.writeKubeconfig(filepath.Join(env.WorkDir, "kubeconfig"), turn.context, namespace)
}

// kubectlOf is a script's kubectl that has not been started.
func kubectlOf(ctx context.Context, ts *testscript.TestScript, args []string) *exec.Cmd {
	command := exec.CommandContext(ctx, ts.Value(kubectlKey{}).(string), args...)
	command.Dir = ts.MkAbs(".")
	command.Env = os.Environ()
	for _, name := range []string{"HOME", "KUBECONFIG", "EDITOR"} {
		command.Env = append(command.Env, name+"="+ts.Getenv(name))
	}
	return command
}

func runKubectl(ts *testscript.TestScript, negated bool, args []string) {
	want := 0
	if negated {
		want = 1
	}
	tryKubectl(ts, want, args)
}

func exitsKubectl(ts *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) < 2 {
		ts.Fatalf("usage: exits CODE ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	tryKubectl(ts, want, args[1:])
}

// tryKubectl leaves to the script what kubectl printed.
func tryKubectl(ts *testscript.TestScript, want int, args []string) {
	var input []byte
	if last := len(args) - 1; last >= 0 && strings.HasPrefix(args[last], "<") {
		input, args = []byte(ts.ReadFile(args[last][1:])), args[:last]
	}
	out, stderr, code := outcome(ts, args, input)
	fmt.Fprint(ts.Stdout(), readable(out))
	fmt.Fprint(ts.Stderr(), readable(stderr))
	if code != want {
		ts.Fatalf("kubectl %s: exit status %d\n%s%s", strings.Join(args, " "), code, out, stderr)
	}
}

func letKubectl(ts *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) < 2 {
		ts.Fatalf("usage: let NAME ARGS...")
	}
	out, stderr, code := outcome(ts, args[1:], nil)
	if code != 0 {
		ts.Fatalf("kubectl %s: exit status %d\n%s", strings.Join(args[1:], " "), code, stderr)
	}
	ts.Setenv(args[0], strings.TrimSpace(out))
}

// outcome runs kubectl to its end.
func outcome(ts *testscript.TestScript, args []string, input []byte) (out, stderr string, code int) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var outBuffer, errBuffer bytes.Buffer
	command := kubectlOf(ctx, ts, args)
	command.Stdin, command.Stdout, command.Stderr = bytes.NewReader(input), &outBuffer, &errBuffer
	if err := command.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		ts.Fatalf("%v", err)
	}
	return outBuffer.String(), errBuffer.String(), command.ProcessState.ExitCode()
}
