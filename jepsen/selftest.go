package jepsen

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/leasehold/leasehold/jepsen/check"
)

// Trial is one attempt to catch a seeded bug.
type Trial struct {
	Bug    string
	Seed   uint64
	Began  time.Time
	Caught bool
	Runs   int           // that it took
	Took   time.Duration // for all of them
	Dir    string        // of the last run
	// Broken are the guarantees that the last run found broken.
	Broken   []string
	Sentence string
}

// String tells it in one line.
func (t Trial) String() string {
	if !t.Caught {
		return fmt.Sprintf("MISSED  %-26s seed %d: not in %d runs and %.0f s; the last said: %s", t.Bug, t.Seed, t.Runs, t.Took.Seconds(), t.Sentence)
	}
	return fmt.Sprintf("caught  %-26s seed %d: %.0f s, %d runs: %s", t.Bug, t.Seed, t.Took.Seconds(), t.Runs, t.Sentence)
}

// trialEnding bounds the wait for a cluster that a bug may have ruined for good.
const trialEnding = 6 * time.Second

// trialLength is how long clients work in one run against a seeded bug.
const trialLength = 8 * time.Second

// Try runs a server with a seeded bug, again and again, until the bug is caught or its time is over. base holds what the
// bug does not decide: binary and mode.
func Try(ctx context.Context, bug Bug, seed uint64, base Spec, options Options) (Trial, error) {
	began := time.Now()
	t := Trial{Bug: bug.Name, Seed: seed, Began: began}
	spec := bug.spec(base)
	for !t.Caught && time.Since(began) < bug.Within {
		spec.Seed = seed + uint64(t.Runs)*1000
		t.Runs++
		outcome, err := Run(ctx, spec, options)
		t.Dir, t.Took = outcome.Dir, time.Since(began)
		if err != nil {
			return t, err
		}
		t.Broken, t.Sentence = brokenGuarantees(outcome.Report), outcome.Report.Sentence
		t.Caught = t.Took <= bug.Within && slices.ContainsFunc(t.Broken, func(g string) bool { return slices.Contains(bug.Guarantees, g) })
	}
	return t, nil
}

// spec is the run that should catch the bug.
func (b Bug) spec(base Spec) Spec {
	s := base
	s.Workloads, s.Nemesis, s.Pairs = b.Workloads, b.Nemesis, b.Pairs
	s.Flags = append(slices.Clone(base.Flags), b.Flags...)
	s.Env = append(slices.Clone(base.Env), BugVariable+"="+b.Name)
	s.Duration, s.Recovery = cmp.Or(b.Duration, trialLength), time.Second
	s.Ending = trialEnding
	if b.Slow {
		s.Duration = 4 * trialLength
	}
	s.Interval, s.Rate = cmp.Or(b.Interval, 2*time.Second), cmp.Or(b.Rate, s.Rate)
	return s
}

// brokenGuarantees are those that a judgement found broken, each once.
func brokenGuarantees(report check.Report) []string {
	var broken []string
	for _, result := range report.Results {
		for _, f := range result.Findings {
			if f.Verdict == check.Broken && !slices.Contains(broken, f.Guarantee) {
				broken = append(broken, f.Guarantee)
			}
		}
	}
	return broken
}
