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

// verdictError is a verdict that is no pass. Its sentence has been told.
type verdictError struct{ verdict check.Verdict }

func (e verdictError) Error() string { return "the verdict is " + string(e.verdict) }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	root := &cobra.Command{Use: "jepsen", Short: "Break clusters and judge what clients saw meanwhile", SilenceUsage: true, SilenceErrors: true}
	root.AddCommand(simCommand())
	err := root.ExecuteContext(ctx)
	stop()
	var verdict verdictError
	switch {
	case errors.As(err, &verdict):
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, "jepsen:", err)
		os.Exit(4)
	}
}
