package sim

import (
	"time"

	"github.com/leasehold/leasehold/jepsen/check"
)

// What is counted in a bubble beside what the checkers count.
const (
	countElections = "elections"
	countRestarts  = "restarts"
	countSnapshots = "snapshots"
)

// judge says what the history of a bubble shows.
func (p plan) judge(bed outcome) check.Report {
	report := check.Judge(bed.history, check.Options{
		MinOperations: int(p.rate * p.duration.Seconds() / 4),
		MinAcked:      int(p.rate * p.duration.Seconds() / 40),
		NeedFaults:    p.duration >= 5*time.Minute,
		MayMiss:       true,
		NeedStreams:   true,
		Nodes:         bed.nodes,
		// The same was shown by the order of versions already; here speed is what counts.
		LinearOperations: -1,
	})
	report.Counts[countRestarts], report.Counts[countSnapshots] = bed.lives-p.nodes, bed.snapshots
	processes := check.Result{Checker: "processes", Judges: []string{"D5"}, Verdict: check.Pass, Checked: bed.lives}
	broke := func(sentence string) {
		processes.Verdict = check.Broken
		processes.Findings = append(processes.Findings, check.Finding{Guarantee: "D5", Verdict: check.Broken, Sentence: sentence, Time: bed.history.End})
	}
	for _, exit := range bed.exits {
		broke(exit + ", though nothing was wrong with its disk")
	}
	if bed.sick != nil {
		broke(bed.sick.Error())
	}
	report.Results = append(report.Results, processes)
	report.Sum()
	return report
}
