package check

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/leasehold/leasehold/jepsen/history"
)

// Judge judges a history by all guarantees. It reads the history and changes nothing in it.
func Judge(h *history.History, options Options) Report {
	options = options.withDefaults()
	l, merged := merge(h, options)
	report := Report{Verdict: Pass, Counts: counts(l)}
	report.Results = append(report.Results, merged)
	for _, judge := range []func(*log) Result{
		judgeWrites, judgeZones, judgeLists, judgeWatches, judgeAppends, judgeElections, judgeBeliefs, judgeHashes, judgeLiveness, judgeHeartbeats,
		judgeValidity,
	} {
		report.Results = append(report.Results, judge(l))
	}
	if options.LinearOperations > 0 {
		report.Results = append(report.Results, judgeLinear(l, report.Results))
	}
	report.Sum()
	return report
}

// Sum sets the verdict and the sentence from the results. Whoever adds a result calls it again.
func (r *Report) Sum() {
	r.Verdict = Pass
	for i := range r.Results {
		r.Verdict = Worse(r.Verdict, r.Results[i].Verdict)
	}
	checker, first := r.First()
	switch {
	case first != nil:
		r.Sentence = checker + "." + first.Guarantee + ": " + first.Sentence
	case r.Verdict != Pass:
		r.Sentence = "the verdict is " + string(r.Verdict)
	default:
		r.Sentence = r.praise()
	}
}

// First returns the finding to look at first, and its checker's name: of the worst verdict what was lost before what was
// shown wrong, and the earlier before the later.
func (r *Report) First() (checker string, first *Finding) {
	for i := range r.Results {
		for j := range r.Results[i].Findings {
			f := &r.Results[i].Findings[j]
			if f.Verdict == r.Verdict && (first == nil || before(f, first)) {
				checker, first = r.Results[i].Checker, f
			}
		}
	}
	return checker, first
}

func before(a, b *Finding) bool {
	if x, y := gravity(a), gravity(b); x != y {
		return x < y
	}
	return a.Time < b.Time
}

// gravity is 0 for what explains the rest.
func gravity(f *Finding) int {
	switch f.Guarantee {
	case "D1", "D2", "W11", "log":
		return 0
	case "V2", "A1", "A2", "A3":
		return 1
	}
	return 2
}

func (r *Report) praise() string {
	c := r.Counts
	sentence := fmt.Sprintf("no guarantee was broken in %s operations (%s acknowledged writes, %s without an answer) and %s watch events",
		thousands(c["operations"]), thousands(c["writes.acked"]), thousands(c["operations.info"]), thousands(c["events"]))
	if c["faults"] > 0 {
		sentence += fmt.Sprintf(" under %s faults of %d kinds", thousands(c["faults"]), c["faults.kinds"])
	}
	return sentence + fmt.Sprintf(" with %s elections", thousands(c["elections"]))
}

// thousands writes a count with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// counts are the figures of a history.
func counts(l *log) map[string]int {
	c := map[string]int{"operations": len(l.h.Operations), "streams": len(l.h.Streams), "revisions": len(l.entries), "objects": len(l.keys)}
	var ok, failed, unknown, acked, expired int
	for i := range l.h.Operations {
		op := &l.h.Operations[i]
		switch op.Outcome {
		case history.OK:
			ok++
			if writes(op.F) {
				acked++
			}
		case history.Fail:
			failed++
			if op.Answer != nil && op.Answer.Code == 410 {
				expired++
			}
		default:
			unknown++
		}
	}
	c["operations.ok"], c["operations.fail"], c["operations.info"], c["writes.acked"], c["expired"] = ok, failed, unknown, acked, expired
	for i := range l.h.Streams {
		s := &l.h.Streams[i]
		c["events"] += len(s.Changes)
		if s.Answer != nil && s.Answer.Code == 410 || len(s.Changes) > 0 && s.Changes[len(s.Changes)-1].Code == 410 {
			c["expired"]++
		}
	}
	var kinds []string
	for i := range l.h.Windows {
		w := &l.h.Windows[i]
		if w.Error != "" {
			continue
		}
		c["faults"]++
		c["faults."+w.Kind]++
		if !slices.Contains(kinds, w.Kind) {
			kinds = append(kinds, w.Kind)
		}
	}
	c["faults.kinds"] = len(kinds)
	terms := make(map[uint64]bool)
	for i := range l.h.Samples {
		if s := l.h.Samples[i].Sample; s != nil && s.Term > 0 && s.Role == "leader" {
			terms[s.Term] = true
		}
	}
	c["elections"] = max(0, len(terms)-1)
	return c
}
