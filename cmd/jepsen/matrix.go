package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/leasehold/leasehold/jepsen"
	"github.com/leasehold/leasehold/jepsen/check"
	"github.com/leasehold/leasehold/jepsen/nemesis"
)

func matrixCommand() *cobra.Command {
	var f runFlags
	var keepGoing bool
	m := jepsen.Matrix{}
	command := &cobra.Command{
		Use:   "matrix",
		Short: "Run workloads times faults, alone and in pairs, on clusters of several sizes, until the budget is used up",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.complete(); err != nil {
				return err
			}
			if err := f.enter(); err != nil {
				return err
			}
			m.Base, m.Seed = f.spec, f.spec.Seed
			if len(m.Singles) == 0 {
				for _, k := range nemesis.Kinds() {
					m.Singles = append(m.Singles, k.Name)
				}
			}
			if len(m.Pairs) == 0 {
				m.Pairs = jepsen.UsualPairs()
			}
			return runMatrix(cmd, &f, m, keepGoing)
		},
	}
	f.add(command)
	flags := command.Flags()
	flags.DurationVar(&m.Budget, "budget", 2*time.Hour, "how long to go on")
	flags.BoolVar(&keepGoing, "keep-going", false, "go on after a run that broke a guarantee or could not be judged")
	flags.StringSliceVar(&m.Workloads, "workload", jepsen.Workloads(), "workloads to take in turn")
	flags.StringSliceVar(&m.Singles, "nemesis", nil, "kinds of faults to take in turn (default all)")
	flags.StringSliceVar(&m.Pairs, "pair", nil, "pairs to take in turn, as kind+kind (default the usual ones)")
	flags.IntSliceVar(&m.Sizes, "sizes", []int{3, 5}, "sizes of clusters to take in turn")
	return command
}

func runMatrix(cmd *cobra.Command, f *runFlags, m jepsen.Matrix, keepGoing bool) error {
	fmt.Fprintln(cmd.OutOrStdout(), m)
	began, worst := time.Now(), check.Pass
	tally := make(map[check.Verdict]int)
	runs := 0
	for spec := range m.Specs {
		if time.Since(began)+spec.Duration > m.Budget || cmd.Context().Err() != nil {
			break
		}
		runs++
		fmt.Fprintf(cmd.OutOrStdout(), "\nrun %d: %s under %s, %d nodes, seed %d\n", runs, strings.Join(spec.Workloads, ","),
			strings.Join(append(spec.Nemesis, spec.Pairs...), ","), spec.Nodes, spec.Seed)
		err := f.runOne(cmd, "matrix", spec)
		var verdict verdictError
		switch {
		case err == nil:
			tally[check.Pass]++
		case errors.As(err, &verdict):
			tally[verdict.verdict]++
			worst = check.Worse(worst, verdict.verdict)
		default:
			return err
		}
		if (worst == check.Broken || worst == check.Unknown) && !keepGoing {
			break
		}
	}
	fmt.Fprintf(cmd.OutOrStdout(), "\nmatrix of %v: %d passed, %d broken, %d unknown, %d showed nothing\n", time.Since(began).Round(time.Second),
		tally[check.Pass], tally[check.Broken], tally[check.Unknown], tally[check.Invalid])
	if worst != check.Pass {
		return verdictError{worst}
	}
	return nil
}
