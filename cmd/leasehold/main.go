// Command leasehold is the one binary: a node of a cluster, a cluster for development, its balancer, and the tools
// that look at one or measure one.
//
// It holds flags, environment, configuration, wiring and the order of shutdown, and no rule of Kubernetes or of Raft.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/leasehold/leasehold/cmd/leasehold/bench"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if err := rootCommand().ExecuteContext(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "leasehold: %v\n", err)
		os.Exit(1)
	}
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "leasehold",
		Short:         "A replicated server of the Kubernetes coordination API",
		Version:       leaseholdVersion,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(bench.Command(), devCommand(), proxyCommand(), serveCommand(), statusCommand(), versionCommand())
	return root
}
