package main

import (
	"github.com/spf13/cobra"

	"github.com/leasehold/leasehold/jepsen/workload"
)

// electorCommand is the process of electors that workload election starts.
func electorCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "elector",
		Short:  "Contend for leases with client-go, as told on standard input (for the harness itself)",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return workload.RunElectors(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}
