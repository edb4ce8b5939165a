package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/leasehold/leasehold/jepsen"
	"github.com/leasehold/leasehold/jepsen/check"
)

func runCommand() *cobra.Command {
	var f runFlags
	command := &cobra.Command{
		Use:   "run",
		Short: "Run a cluster under faults and judge it",
		Example: `  jepsen run --workload mixed --nemesis kill,partition,pause --time-limit 60s
  jepsen run --workload register --pair pause-leader+partition-one-way --seed 7
  jepsen run --workload register,list,watch --url https://127.0.0.1:6443 --token-file token --ca-file ca.crt`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.complete(); err != nil {
				return err
			}
			if err := f.spec.Validate(); err != nil {
				return err
			}
			if err := f.enter(); err != nil {
				return err
			}
			return f.runOne(cmd, "run", f.spec)
		},
	}
	f.add(command)
	f.addRemote(command)
	command.Flags().StringSliceVar(&f.spec.Workloads, "workload", []string{"mixed"}, "what clients do: "+strings.Join(jepsen.Workloads(), ", "))
	command.Flags().StringSliceVar(&f.spec.Nemesis, "nemesis", nil, "kinds or families of faults, each a stream of its own (jepsen kinds lists them)")
	command.Flags().StringSliceVar(&f.spec.Pairs, "pair", nil, "kinds that strike together, as kind+kind")
	return command
}

// runOne does one run, tells its sentence and adds it to the ledger.
func (f *runFlags) runOne(cmd *cobra.Command, kind string, spec jepsen.Spec) error {
	options, err := f.options(cmd)
	if err != nil {
		return err
	}
	outcome, err := jepsen.Run(cmd.Context(), spec, options)
	if err != nil {
		return err
	}
	if f.ledger != "" {
		if err := jepsen.EnterInLedger(f.ledger, kind, outcome); err != nil {
			return err
		}
	}
	return tell(cmd, outcome)
}

// tell says what became of a run in one sentence, the last line.
func tell(cmd *cobra.Command, outcome jepsen.Outcome) error {
	if figures := outcome.Figures.String(); figures != "" {
		fmt.Fprintln(cmd.OutOrStdout(), figures)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s\n%s %s; see %s\n", outcome.Coverage, strings.ToUpper(string(outcome.Report.Verdict)), outcome.Report.Sentence,
		filepath.Join(outcome.Dir, "index.html"))
	if outcome.Report.Verdict != check.Pass {
		return verdictError{outcome.Report.Verdict}
	}
	return nil
}
