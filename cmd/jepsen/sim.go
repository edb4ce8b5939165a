package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/leasehold/leasehold/jepsen"
	"github.com/leasehold/leasehold/jepsen/check"
	"github.com/leasehold/leasehold/jepsen/ledger"
	"github.com/leasehold/leasehold/jepsen/sim"
)

func simCommand() *cobra.Command {
	var (
		o         sim.Options
		out       string
		book      string
		histories bool
		logs      bool
	)
	command := &cobra.Command{
		Use:   "sim",
		Short: "Run the same code in simulated time, some hundred times faster than life",
		Long: "Run nodes, clients and faults in this process, where nothing takes time but waiting, and judge what clients saw.\n" +
			"Simulated time is cut into bubbles of an hour. Each has a seed of its own, which is told where it fails:\n" +
			"jepsen sim --seed N --hours 1 does the like again.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// One bubble is the work of one core: handing its goroutines from core to core costs more than it brings.
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			defer debug.SetGCPercent(debug.SetGCPercent(200))
			if logs {
				o.Logs = cmd.ErrOrStderr()
			}
			o.Keep = func(b sim.Bubble, lines func(io.Writer) error) error {
				if b.Report.Verdict == check.Pass && !histories {
					return nil
				}
				return keepBubble(out, b, lines)
			}
			o.Progress = func(b sim.Bubble, r sim.Result) { tellProgress(cmd.ErrOrStderr(), o, b, r) }
			return runSim(cmd.Context(), cmd.OutOrStdout(), o, book)
		},
	}
	flags := command.Flags()
	flags.Uint64Var(&o.Seed, "seed", 1, "seed of the first bubble, which decides upon those of the others")
	flags.Float64Var(&o.Hours, "hours", 24, "simulated hours")
	flags.DurationVar(&o.Bubble, "bubble", time.Hour, "simulated time of one bubble")
	flags.IntVar(&o.Nodes, "nodes", 0, "nodes of the cluster; 0 lets the seed decide between 3 and 5")
	flags.Float64Var(&o.Rate, "rate", sim.DefaultRate, "operations a simulated second")
	flags.BoolVar(&o.KeepGoing, "keep-going", false, "do not stop at the first failure")
	flags.StringVar(&out, "out", "store/sim", "directory for what is kept of failures, and for histories")
	flags.StringVar(&book, "ledger", "", "JSON-lines file to which the simulation is added")
	flags.BoolVar(&histories, "histories", false, "keep the history of every bubble, not of failures alone")
	flags.BoolVar(&logs, "logs", false, "tell what the nodes log")
	return command
}

// runSim simulates, adds the result to the ledger, tells it in one last line, and returns an error unless it is a good one.
func runSim(ctx context.Context, stdout io.Writer, o sim.Options, book string) error {
	began := time.Now()
	r, err := sim.Run(ctx, o)
	if err != nil {
		return err
	}
	if book != "" && r.Bubbles > 0 {
		if err := jepsen.EnterSimulationInLedger(book, simulation(began, o.Seed, r)); err != nil {
			return err
		}
	}
	fmt.Fprintln(stdout, r.Sentence)
	if r.Verdict != check.Pass {
		return verdictError{r.Verdict}
	}
	return nil
}

// simulation is what the ledger says of a result.
func simulation(began time.Time, seed uint64, r sim.Result) ledger.Entry {
	return ledger.Entry{Time: began, Faults: r.Faults, Operations: r.Operations, Simulated: r.Simulated.Seconds(),
		Seconds: r.Took.Seconds(), Verdict: r.Verdict, Sentence: r.Sentence, Seed: seed}
}

func tellProgress(stderr io.Writer, o sim.Options, b sim.Bubble, r sim.Result) {
	fmt.Fprintf(stderr, "%s of %s simulated, %s: seed %d, %d nodes: %s in %s\n", r.Simulated.Round(time.Minute),
		time.Duration(o.Hours*float64(time.Hour)).Round(time.Minute), r.Took.Round(time.Second), b.Seed, b.Nodes, b.Report.Verdict, b.Took.Round(100*time.Millisecond))
}

// keepBubble keeps a bubble's history and what was made of it, in a directory named for its seed.
func keepBubble(out string, b sim.Bubble, lines func(io.Writer) error) error {
	dir := filepath.Join(out, strconv.FormatUint(b.Seed, 10))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	report, err := json.MarshalIndent(b.Report, "", "  ")
	if err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(dir, "history.jsonl"))
	if err != nil {
		return err
	}
	return errors.Join(
		lines(file),
		file.Close(),
		os.WriteFile(filepath.Join(dir, "results.json"), append(report, '\n'), 0o644),
	)
}
