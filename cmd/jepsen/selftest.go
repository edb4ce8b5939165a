package main

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/leasehold/leasehold/jepsen"
	"github.com/leasehold/leasehold/jepsen/check"
)

func selftestCommand() *cobra.Command {
	var f runFlags
	var names []string
	var seeds int
	var slow bool
	var patience float64
	command := &cobra.Command{
		Use:   "selftest",
		Short: "Prove that the harness can fail: every bug seeded into an instrumented server must be caught",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.spec.Binary == "" {
				var err error
				if f.spec.Binary, err = beside("leasehold-instrumented"); err != nil {
					return err
				}
			}
			if err := f.complete(); err != nil {
				return err
			}
			if err := instrumented(f.spec.Binary); err != nil {
				return err
			}
			bugs, err := chooseBugs(names, slow)
			if err != nil {
				return err
			}
			if err := f.enter(); err != nil {
				return err
			}
			for i := range bugs {
				bugs[i].Within = time.Duration(patience * float64(bugs[i].Within))
			}
			return selftest(cmd, &f, bugs, seeds)
		},
	}
	f.add(command)
	command.Flags().StringSliceVar(&names, "bug", nil, "bugs to try (default all that are fast)")
	command.Flags().IntVar(&seeds, "seeds", 1, "how many seeds each bug must be caught in, counted up from --seed")
	command.Flags().BoolVar(&slow, "slow", false, "try the bugs that need luck and minutes too")
	command.Flags().Float64Var(&patience, "patience", 1, "how many times its usual time each bug is given, on a machine that is busy")
	return command
}

// instrumented returns nil if a server has bugs to switch on.
func instrumented(binary string) error {
	out, err := exec.Command(binary, "version").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s version: %w: %s", binary, err, out)
	}
	if !strings.Contains(string(out), "instrumented") {
		return fmt.Errorf("%s has no seeded bugs: build it with make instrumented", binary)
	}
	return nil
}

func chooseBugs(names []string, slow bool) ([]jepsen.Bug, error) {
	var chosen []jepsen.Bug
	for _, b := range jepsen.Bugs() {
		if slices.Contains(names, b.Name) || len(names) == 0 && (slow || !b.Slow) {
			chosen = append(chosen, b)
		}
	}
	if len(names) > 0 && len(chosen) != len(names) {
		return nil, fmt.Errorf("--bug: not all of %s are seeded", strings.Join(names, ", "))
	}
	return chosen, nil
}

func selftest(cmd *cobra.Command, f *runFlags, bugs []jepsen.Bug, seeds int) error {
	options, err := f.options(cmd)
	if err != nil {
		return err
	}
	var trials []jepsen.Trial
	missed := 0
	for _, bug := range bugs {
		for i := range seeds {
			trial, err := jepsen.Try(cmd.Context(), bug, f.spec.Seed+uint64(i), f.spec, options)
			if err != nil {
				return err
			}
			trials = append(trials, trial)
			if !trial.Caught {
				missed++
			}
			fmt.Fprintln(cmd.OutOrStdout(), trial)
		}
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%d of %d seeded bugs caught\n", len(trials)-missed, len(trials))
	if f.ledger != "" {
		if err := jepsen.EnterTrialsInLedger(f.ledger, f.spec, trials); err != nil {
			return err
		}
	}
	if missed > 0 {
		return verdictError{check.Broken}
	}
	return nil
}
