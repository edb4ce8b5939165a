package sim

import (
	"strings"
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
		NeedStreams:   true,
		Nodes:         bed.nodes,
		// The same was shown by the order of versions already; here speed is what counts.
		LinearOperations: -1,
	})
	report.Counts[countRestarts], report.Counts[countSnapshots] = bed.lives-p.nodes, bed.snapshots
	if len(bed.exits) > 0 {
		sentence := strings.Join(bed.exits, "; ") + ", though nothing was wrong with its disk"
		report.Results = append(report.Results, check.Result{Checker: "processes", Judges: []string{"D5"}, Verdict: check.Broken,
			Checked: bed.lives, Findings: []check.Finding{{Guarantee: "D5", Verdict: check.Broken, Sentence: sentence}}})
		report.Sum()
	}
	return report
}
