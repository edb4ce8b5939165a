package e2e

import (
	"context"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// follower is a kubectl that runs while its script goes on.
type follower struct {
	name     string
	command  *exec.Cmd
	out, err *transcript
	reading  sync.WaitGroup
	taken    int // lines of out that the script has taken
}

func followKubectl(ts *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) < 2 {
		ts.Fatalf("usage: follow NAME ARGS...")
	}
	ctx, cancel := context.WithCancel(context.Background())
	f := &follower{name: args[0], command: kubectlOf(ctx, ts, args[1:]), out: newTranscript(), err: newTranscript()}
	out, err := f.command.StdoutPipe()
	ts.Check(err)
	stderr, err := f.command.StderrPipe()
	ts.Check(err)
	ts.Check(f.command.Start())
	f.reading.Go(func() { f.out.read(out) })
	f.reading.Go(func() { f.err.read(stderr) })
	ts.Defer(func() {
		cancel()
		f.reading.Wait()
		_ = f.command.Wait() // killed, or ended has told
	})
	followers(ts)[f.name] = f
}

// followersKey finds a script's followers among its values.
type followersKey struct{}

func followers(ts *testscript.TestScript) map[string]*follower {
	return ts.Value(followersKey{}).(map[string]*follower)
}

// followed returns the follower that a command names first, and what follows.
func followed(ts *testscript.TestScript, args []string) (*follower, []string) {
	if len(args) == 0 || followers(ts)[args[0]] == nil {
		ts.Fatalf("follow nothing of that name: %q", args)
	}
	return followers(ts)[args[0]], args[1:]
}

func nextLine(ts *testscript.TestScript, negated bool, args []string) {
	f, args := followed(ts, args)
	if negated || len(args) != 1 {
		ts.Fatalf("usage: next NAME REGEXP")
	}
	pattern, err := regexp.Compile(args[0])
	ts.Check(err)
	if !f.out.await(func(lines []string) bool { return len(lines) > f.taken }) {
		ts.Fatalf("%s printed no more\n%s", f.name, f.told())
	}
	lines, _ := f.out.said()
	line := readable(lines[f.taken])
	f.taken++
	if !pattern.MatchString(line) {
		ts.Fatalf("%s printed %q", f.name, line)
	}
}

func toldLine(ts *testscript.TestScript, negated bool, args []string) {
	f, args := followed(ts, args)
	if negated || len(args) != 1 {
		ts.Fatalf("usage: told NAME REGEXP")
	}
	pattern, err := regexp.Compile(args[0])
	ts.Check(err)
	if !f.err.await(func(lines []string) bool { return slices.ContainsFunc(lines, pattern.MatchString) }) {
		ts.Fatalf("%s told no such thing\n%s", f.name, f.told())
	}
}

// told is what a follower has printed on its standard error.
func (f *follower) told() string {
	lines, _ := f.err.said()
	return strings.Join(lines, "\n")
}

func endedFollowing(ts *testscript.TestScript, negated bool, args []string) {
	f, _ := followed(ts, args)
	killer := time.AfterFunc(patience, func() { _ = f.command.Process.Kill() }) // fails when it has ended
	defer killer.Stop()
	f.reading.Wait()
	if err := f.command.Wait(); negated != (err != nil) {
		ts.Fatalf("%s: %v\n%s", f.name, err, f.told())
	}
}
