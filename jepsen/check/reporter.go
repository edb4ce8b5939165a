package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/leasehold/leasehold/jepsen/history"
)

// kept bounds the findings about one guarantee that are remembered while a checker is at work.
const kept = 1024

// reporter gathers what one checker finds.
type reporter struct {
	*log
	result Result
	found  map[string]int // findings by guarantee
	begun  time.Time
}

func (l *log) reporter(checker string, judges ...string) *reporter {
	return &reporter{log: l, begun: time.Now(), found: make(map[string]int), result: Result{Checker: checker, Judges: judges, Verdict: Pass}}
}

// evidence is where and when something was seen.
type evidence struct {
	from, to int64 // to is when it was known
	lines    []int64
	keys     []string
}

// broke notes that a guarantee was broken.
func (r *reporter) broke(guarantee string, e evidence, format string, values ...any) {
	r.note(Broken, guarantee, e, format, values...)
}

func (r *reporter) note(verdict Verdict, guarantee string, e evidence, format string, values ...any) {
	r.result.Verdict = Worse(r.result.Verdict, verdict)
	if r.found[guarantee]++; r.found[guarantee] > kept {
		r.result.More++
		return
	}
	faults := r.faults(e.from, e.to)
	sentence := fmt.Sprintf(format, values...)
	if len(faults) > 0 {
		sentence += " during " + together(faults)
	}
	r.result.Findings = append(r.result.Findings, Finding{Guarantee: guarantee, Verdict: verdict, Sentence: sentence, Time: e.to, Lines: e.lines, Keys: e.keys, Faults: faults})
}

// done returns the result, with the first findings about each guarantee by time.
func (r *reporter) done() Result {
	slices.SortStableFunc(r.result.Findings, func(a, b Finding) int {
		switch {
		case a.Time < b.Time:
			return -1
		case a.Time > b.Time:
			return 1
		}
		return 0
	})
	told := make(map[string]int)
	all := r.result.Findings
	r.result.Findings = nil
	for _, f := range all {
		if told[f.Guarantee]++; told[f.Guarantee] > r.options.Findings {
			r.result.More++
			continue
		}
		r.result.Findings = append(r.result.Findings, f)
	}
	r.result.Seconds = time.Since(r.begun).Seconds()
	return r.result
}

// together names some faults, but not too many.
func together(faults []string) string {
	const most = 4
	if n := len(faults); n > most {
		return strings.Join(faults[:most], ", ") + fmt.Sprintf(" and %d more faults", n-most)
	}
	return strings.Join(faults, " and ")
}

// faults are the names of the faults that were in force at some time from the first to the second.
func (l *log) faults(from, to int64) []string {
	var names []string
	for i := range l.h.Windows {
		w := &l.h.Windows[i]
		if w.Start <= to && w.Stop >= from && w.Error == "" {
			names = append(names, w.Name)
		}
	}
	return names
}

var verdicts = []Verdict{Pass, Invalid, Unknown, Broken}

// Worse is the worse of two verdicts.
func Worse(a, b Verdict) Verdict {
	if slices.Index(verdicts, a) >= slices.Index(verdicts, b) {
		return a
	}
	return b
}

// seconds writes a time of the history for a person.
func seconds(t int64) string {
	if t == history.Never {
		return "never"
	}
	return fmt.Sprintf("%.3f s", float64(t)/1e9)
}

// length writes a duration for a person.
func length(d int64) string {
	if d < int64(time.Second) {
		return fmt.Sprintf("%.0f ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.1f s", float64(d)/1e9)
}

// call names an operation: what, on what, by whom, where.
func call(op *history.Operation) string {
	name := op.F
	if op.Request.Key != "" {
		name += " " + op.Request.Key
	}
	name += " by process " + op.Process
	if op.Node != "" {
		name += " at " + op.Node
	}
	return name
}

// answer tells how an operation ended.
func answer(op *history.Operation) string {
	switch {
	case op.Outcome == history.OK && writes(op.F):
		return "acked at " + seconds(op.Returned)
	case op.Outcome == history.OK:
		return "answered at " + seconds(op.Returned)
	case op.Outcome == history.Fail && op.Answer != nil && op.Answer.Code > 0:
		return fmt.Sprintf("refused with %d %s at %s", op.Answer.Code, op.Answer.Reason, seconds(op.Returned))
	case op.Outcome == history.Fail:
		return "failed at " + seconds(op.Returned)
	}
	return "without an answer"
}

// change names an entry of the log and how it came to be known.
func (l *log) change(at int32) string {
	e := &l.entries[at]
	what := "change of "
	if e.gone {
		what = "deletion of "
	}
	if e.writer == none {
		return fmt.Sprintf("revision %d (%s%s, first seen at %s)", e.revision, what, l.keys[e.key], seconds(e.seen))
	}
	op := &l.h.Operations[e.writer]
	at1 := ""
	if op.Node != "" {
		at1 = " at " + op.Node
	}
	if op.Outcome == history.OK && op.Returned <= e.seen {
		return fmt.Sprintf("revision %d (%s %s, acked%s at %s)", e.revision, op.F, l.keys[e.key], at1, seconds(op.Returned))
	}
	return fmt.Sprintf("revision %d (%s %s%s, called at %s, first seen at %s)", e.revision, op.F, l.keys[e.key], at1, seconds(op.Invoked), seconds(e.seen))
}

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }
