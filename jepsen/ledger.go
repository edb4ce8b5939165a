package jepsen

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/leasehold/leasehold/jepsen/check"
	"github.com/leasehold/leasehold/jepsen/ledger"
	"github.com/leasehold/leasehold/jepsen/report"
)

// EnterInLedger adds a run to the ledger at path and makes its page anew.
func EnterInLedger(path, kind string, outcome Outcome) error {
	results, err := report.ReadResults(outcome.Dir)
	if err != nil {
		return err
	}
	entry, err := ledger.Of(results, kind, outcome.Dir, outcome.Took.Seconds())
	if err != nil {
		return err
	}
	entry.Figures = outcome.Figures
	return enter(path, entry)
}

// EnterTrialsInLedger adds a self-test, all its trials in one line, to the ledger at path.
func EnterTrialsInLedger(path string, base Spec, trials []Trial) error {
	if len(trials) == 0 {
		return nil
	}
	e := surroundings(base.Binary, "")
	entry := ledger.Entry{Time: trials[0].Began, Commit: e.Commit, Dirty: e.Dirty, Machine: e.Machine, Kind: ledger.SelfTest, Verdict: check.Pass, Seed: base.Seed}
	var missed []string
	caught := 0
	for _, t := range trials {
		entry.Seconds += t.Took.Seconds()
		if t.Caught {
			caught++
		} else {
			missed = append(missed, fmt.Sprintf("%s (seed %d)", t.Bug, t.Seed))
		}
	}
	entry.Figures = map[string]float64{ledger.BugsCaught: float64(caught), ledger.BugsMissed: float64(len(missed))}
	entry.Sentence = fmt.Sprintf("%d of %d trials caught the bug that was seeded", caught, len(trials))
	if len(missed) > 0 {
		entry.Verdict = check.Broken
		entry.Sentence += "; missed " + strings.Join(missed, ", ")
	}
	return enter(path, entry)
}

// EnterSimulationInLedger adds simulated time, all its bubbles in one line, to the ledger at path. The entry tells what was
// simulated; by which commit and on what machine is filled in.
func EnterSimulationInLedger(path string, entry ledger.Entry) error {
	e := surroundings("", "")
	entry.Kind, entry.Commit, entry.Dirty, entry.Machine = ledger.Sim, e.Commit, e.Dirty, e.Machine
	return enter(path, entry)
}

func enter(path string, entry ledger.Entry) error {
	if _, err := ledger.Append(path, entry); err != nil {
		return err
	}
	return ledger.WritePage(filepath.Dir(path))
}
