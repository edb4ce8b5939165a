package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/leasehold/leasehold/jepsen/nemesis"
)

func kindsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "kinds",
		Short: "List all kinds of faults",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
			fmt.Fprintln(w, "KIND\tFAMILY\tWHAT IT DOES")
			for _, k := range nemesis.Kinds() {
				fmt.Fprintf(w, "%s\t%s\t%s\n", k.Name, k.Family, k.Does)
			}
			return w.Flush()
		},
	}
}
