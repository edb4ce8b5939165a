package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/leasehold/leasehold/jepsen"
)

func minimizeCommand() *cobra.Command {
	var f runFlags
	var tries int
	command := &cobra.Command{
		Use:   "minimize FOLDER",
		Short: "Do a run that broke a guarantee again with ever fewer faults and clients",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			spec, err := jepsen.ReadSpec(args[0])
			if err != nil {
				return err
			}
			f.spec.Mode = spec.Mode
			if err := f.enter(); err != nil {
				return err
			}
			options, err := f.options(cmd)
			if err != nil {
				return err
			}
			m, err := jepsen.Minimize(cmd.Context(), args[0], tries, options)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "the smallest of %d runs that breaks it: %s under %s, %d clients, faults %v\n", m.Runs, strings.Join(m.Spec.Workloads, ","),
				strings.Join(append(m.Spec.Nemesis, m.Spec.Pairs...), ","), m.Spec.Clients, m.Spec.Only)
			return tell(cmd, m.Outcome)
		},
	}
	command.Flags().IntVar(&tries, "tries", 3, "how often a smaller run is tried before it counts as one that breaks nothing")
	command.Flags().StringVar(&f.store, "out", "store", "where the folders of runs are")
	return command
}
