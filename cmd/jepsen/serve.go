package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/leasehold/leasehold/jepsen/report"
)

func serveCommand() *cobra.Command {
	var listen string
	command := &cobra.Command{
		Use:   "serve [STORE]",
		Short: "Show all runs of a store in a browser",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			store := "store"
			if len(args) == 1 {
				store = args[0]
			}
			return report.Serve(cmd.Context(), store, listen, func(url string) {
				fmt.Fprintf(cmd.OutOrStdout(), "serving the runs of %s at %s\n", store, url)
			})
		},
	}
	command.Flags().StringVar(&listen, "listen", "127.0.0.1:8750", "host:port; without authentication, so better loopback")
	return command
}
