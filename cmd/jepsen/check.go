package main

import (
	"github.com/spf13/cobra"

	"github.com/leasehold/leasehold/jepsen"
)

func checkCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check FOLDER",
		Short: "Judge the history of a former run again, by the checkers of today",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			outcome, err := jepsen.Rejudge(args[0])
			if err != nil {
				return err
			}
			return tell(cmd, outcome)
		},
	}
}
