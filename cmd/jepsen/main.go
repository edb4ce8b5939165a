// Command jepsen breaks clusters and judges what clients saw meanwhile.
//
// It holds flags and wiring; the harness is in the jepsen room.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/leasehold/leasehold/jepsen/check"
)

// The exit codes: 0 for a pass, 1 for a broken guarantee, 2 for unknown, 3 for invalid, 4 for a command that could not do
// its work.
const couldNot = 4

// verdictError is a verdict that is no pass. Its sentence has been told.
type verdictError struct{ verdict check.Verdict }

func (e verdictError) Error() string { return "the verdict is " + string(e.verdict) }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	err := rootCommand().ExecuteContext(ctx)
	stop()
	os.Exit(exitCode(err))
}

func exitCode(err error) int {
	var verdict verdictError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &verdict):
		fmt.Fprintf(os.Stderr, "jepsen: %v\n", err)
		return couldNot
	}
	return map[check.Verdict]int{check.Broken: 1, check.Unknown: 2, check.Invalid: 3}[verdict.verdict]
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "jepsen",
		Short: "Break a cluster of Leases, and judge what its clients saw",
		Long: `Break a cluster of Leases, and judge what its clients saw.

Exit codes: 0 pass, 1 a guarantee was broken, 2 unknown, 3 the run shows nothing, 4 the command could not do its work.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(runCommand(), matrixCommand(), checkCommand(), selftestCommand(), simCommand(), serveCommand(), minimizeCommand(), kindsCommand(), ledgerCommand(), electorCommand())
	return root
}
