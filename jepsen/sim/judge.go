package sim

import (
	"strings"

	"github.com/leasehold/leasehold/jepsen/check"
)

// What is counted in a bubble beside what the checkers count.
const (
	countElections = "elections"
	countRestarts  = "restarts"
	countSnapshots = "snapshots"
)

// judge says what the history of a bubble shows.
func (p plan) judge(o outcome) check.Report {
	report := check.Report{Verdict: check.Pass, Counts: map[string]int{
		countElections: o.elections, countRestarts: o.lives - p.nodes, countSnapshots: o.snapshots,
	}}
	if len(o.exits) > 0 {
		report.Verdict = check.Broken
		report.Sentence = strings.Join(o.exits, "; ") + ", though nothing was wrong with its disk"
		report.Results = append(report.Results, check.Result{Checker: "processes", Judges: []string{"D5"}, Verdict: check.Broken,
			Findings: []check.Finding{{Guarantee: "D5", Verdict: check.Broken, Sentence: report.Sentence}}})
	}
	return report
}
