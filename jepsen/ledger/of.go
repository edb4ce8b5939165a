package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/leasehold/leasehold/jepsen/report"
)

// Of makes an entry from the results of a run whose folder is dir. took is how many seconds it took; Operations are those of
// the history, and faults those that were felt. The caller adds Figures.
func Of(results report.Results, kind, dir string, took float64) (Entry, error) {
	env := results.Run.Environment
	e := Entry{Time: results.Run.Began, Commit: env.Commit, Dirty: env.Dirty, Machine: env.Machine, Kind: kind, Workload: results.Run.Workload,
		Operations: results.Operations, Seconds: took, Verdict: results.Verdict, Sentence: results.Sentence, Seed: results.Run.Seed, Run: filepath.Base(dir)}
	for _, f := range results.Faults {
		if n := f.Felt; n > 0 {
			if e.Faults == nil {
				e.Faults = make(map[string]int)
			}
			e.Faults[f.Kind] = n
		}
	}
	if kind == Sim {
		e.Simulated = results.Seconds
	}
	sum, err := Hash(filepath.Join(dir, "history.jsonl"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Run = ""
	case err != nil:
		return e, fmt.Errorf("enter a run in the ledger: %w", err)
	}
	e.History = sum
	return e, nil
}
