package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/leasehold/leasehold/jepsen/ledger"
)

func ledgerCommand() *cobra.Command {
	var verify bool
	var dir, store string
	command := &cobra.Command{
		Use:   "ledger",
		Short: "Make the ledger's page from its lines, or verify the lines",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !verify {
				return ledger.WritePage(dir)
			}
			v, err := ledger.Verify(filepath.Join(dir, ledger.File), store)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%d lines follow from each other; %d histories are those that were judged, %d are gone\n", v.Lines, v.Histories, v.Gone)
			return nil
		},
	}
	command.Flags().BoolVar(&verify, "verify", false, "check the chain of lines, and the histories that are still there")
	command.Flags().StringVar(&dir, "dir", "jepsen", "where ledger.jsonl and LEDGER.md are")
	command.Flags().StringVar(&store, "store", "store", "where the folders of runs are")
	return command
}
