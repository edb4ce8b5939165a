package ledger

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/leasehold/leasehold/jepsen/check"
)

// Files of the ledger, beside each other.
const (
	File = "ledger.jsonl"
	Page = "LEDGER.md"
)

// WritePage makes the page anew from the ledger, both in dir.
func WritePage(dir string) error {
	entries, err := Read(filepath.Join(dir, File))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, Page), Render(entries), 0o644)
}

// Render makes the page: totals, goals, faults by kind, and a row for each entry, the newest first.
func Render(entries []Entry) []byte {
	var b strings.Builder
	b.WriteString("# Ledger\n\nEverything that was tried on Leasehold by its chaos harness, one line of [ledger.jsonl](ledger.jsonl) each. " +
		"Written by `jepsen ledger`; do not edit. `jepsen ledger --verify` follows the chain of hashes.\n\n")
	renderTotals(&b, entries)
	renderGoals(&b, entries)
	renderFaults(&b, entries)
	renderRows(&b, entries)
	return []byte(b.String())
}

// sums are what entries add up to.
type sums struct {
	entries    int
	operations int
	faults     int
	simulated  float64
	seconds    float64
	verdicts   map[check.Verdict]int
	powerOffs  float64
	killsOfAll float64
}

func sum(entries []Entry, counts func(*Entry) bool) sums {
	s := sums{verdicts: make(map[check.Verdict]int)}
	for i := range entries {
		e := &entries[i]
		if !counts(e) {
			continue
		}
		s.entries++
		s.operations += e.Operations
		for _, n := range e.Faults {
			s.faults += n
		}
		s.simulated += e.Simulated
		s.seconds += e.Seconds
		s.verdicts[e.Verdict]++
		s.powerOffs += e.Figures[PowerLosses]
		s.killsOfAll += e.Figures[KillsOfAll]
	}
	return s
}

// processes says whether an entry is of real processes, and not of bugs seeded on purpose.
func processes(e *Entry) bool { return e.Kind != Sim && e.Kind != SelfTest }

func simulated(e *Entry) bool { return e.Kind == Sim }

func renderTotals(b *strings.Builder, entries []Entry) {
	b.WriteString("## Totals\n\n| | real processes | simulated | with uncommitted changes |\n|---|---:|---:|---:|\n")
	columns := [...]sums{
		sum(entries, func(e *Entry) bool { return !e.Dirty && processes(e) }),
		sum(entries, func(e *Entry) bool { return !e.Dirty && simulated(e) }),
		sum(entries, func(e *Entry) bool { return e.Dirty && e.Kind != SelfTest }),
	}
	for _, row := range []struct {
		name  string
		value func(s *sums) string
	}{
		{"operations checked", func(s *sums) string { return grouped(s.operations) }},
		{"faults", func(s *sums) string { return grouped(s.faults) }},
		{"simulated days", func(s *sums) string { return number(s.simulated / 86400) }},
		{PowerLosses, func(s *sums) string { return number(s.powerOffs) }},
		{KillsOfAll, func(s *sums) string { return number(s.killsOfAll) }},
		{"runs", func(s *sums) string { return grouped(s.entries) }},
		{"passed", func(s *sums) string { return grouped(s.verdicts[check.Pass]) }},
		{"failed", func(s *sums) string { return grouped(s.verdicts[check.Broken]) }},
		{"unknown", func(s *sums) string { return grouped(s.verdicts[check.Unknown]) }},
		{"invalid (showed nothing)", func(s *sums) string { return grouped(s.verdicts[check.Invalid]) }},
		{"hours of machine time", func(s *sums) string { return number(s.seconds / 3600) }},
	} {
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", row.name, row.value(&columns[0]), row.value(&columns[1]), row.value(&columns[2]))
	}
	tests := sum(entries, func(e *Entry) bool { return !e.Dirty && e.Kind == SelfTest })
	fmt.Fprintf(b, "\nSelf-tests, in which bugs are seeded on purpose and must be caught: %s, of which %s passed. They count nowhere else.\n\n", grouped(tests.entries), grouped(tests.verdicts[check.Pass]))
}

// streak are the entries of committed code that passed since the last one that failed or could not be decided.
func streak(entries []Entry, counts func(*Entry) bool) []Entry {
	var out []Entry
	for i := range entries {
		e := &entries[i]
		switch {
		case e.Dirty || !counts(e):
		case e.Verdict == check.Broken || e.Verdict == check.Unknown:
			out = nil
		case e.Verdict == check.Pass:
			out = append(out, *e)
		}
	}
	return out
}

func renderGoals(b *strings.Builder, entries []Entry) {
	b.WriteString("## Goals\n\nCounted since the last run that failed or could not be decided; measurements are those of the newest run that has them.\n\n| | shown | goal | |\n|---|---:|---:|---|\n")
	row := func(name, shown, bound string, met bool) {
		word := "not yet"
		if met {
			word = "met"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", cell(name), shown, bound, word)
	}
	since := streak(entries, processes)
	all := sum(since, func(*Entry) bool { return true })
	row("operations checked in a row without a violation", grouped(all.operations), "at least "+grouped(goalOperations), all.operations >= goalOperations)
	row("faults in the same runs", grouped(all.faults), "at least "+grouped(goalFaults), all.faults >= goalFaults)
	days := sum(streak(entries, simulated), func(*Entry) bool { return true }).simulated / 86400
	row("simulated days in a row without a violation", number(days), "at least "+number(goalDays), days >= goalDays)
	for _, g := range goals {
		value, found := g.value(entries, since)
		bound := "at least "
		if g.most {
			bound = "at most "
		}
		bound = strings.TrimSpace(bound + number(g.bound) + " " + g.unit)
		if !found {
			row(g.figure, "", bound, false)
			continue
		}
		row(g.figure, strings.TrimSpace(number(value)+" "+g.unit), bound, g.most && value <= g.bound || !g.most && value >= g.bound)
	}
	b.WriteString("\n")
}

// value is what entries show of a goal's figure.
func (g goal) value(entries, since []Entry) (value float64, found bool) {
	if g.how == latest {
		for i := len(entries) - 1; i >= 0; i-- {
			if v, has := entries[i].Figures[g.figure]; has && !entries[i].Dirty {
				return v, true
			}
		}
		return 0, false
	}
	for i := range since {
		if v, has := since[i].Figures[g.figure]; has {
			value, found = value+v, true
		}
	}
	return value, found
}

func renderFaults(b *strings.Builder, entries []Entry) {
	type count struct{ real, simulated int }
	kinds := make(map[string]*count)
	for i := range entries {
		e := &entries[i]
		if e.Dirty || e.Kind == SelfTest {
			continue
		}
		for kind, n := range e.Faults {
			if kinds[kind] == nil {
				kinds[kind] = new(count)
			}
			if e.Kind == Sim {
				kinds[kind].simulated += n
			} else {
				kinds[kind].real += n
			}
		}
	}
	b.WriteString("## Faults by kind\n\n")
	if len(kinds) == 0 {
		b.WriteString("None yet.\n\n")
		return
	}
	b.WriteString("| kind | real | simulated |\n|---|---:|---:|\n")
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		fmt.Fprintf(b, "| %s | %s | %s |\n", cell(kind), grouped(kinds[kind].real), grouped(kinds[kind].simulated))
	}
	b.WriteString("\n")
}

func renderRows(b *strings.Builder, entries []Entry) {
	b.WriteString("## Runs\n\n")
	if len(entries) == 0 {
		b.WriteString("None yet.\n")
		return
	}
	b.WriteString("Newest first. A commit with \\* had uncommitted changes.\n\n| time (UTC) | commit | kind | workload | operations | faults | took | seed | verdict | sentence | figures |\n|---|---|---|---|---:|---:|---:|---:|---|---|---|\n")
	for i := len(entries) - 1; i >= 0; i-- {
		e := &entries[i]
		commit := e.Commit[:min(len(e.Commit), 10)]
		if e.Dirty {
			commit += "*"
		}
		faults := 0
		for _, n := range e.Faults {
			faults += n
		}
		took := number(e.Seconds) + " s"
		if e.Simulated > 0 {
			took += ", " + number(e.Simulated/86400) + " days simulated"
		}
		var figures []string
		for _, name := range slices.Sorted(maps.Keys(e.Figures)) {
			figures = append(figures, name+": "+number(e.Figures[name]))
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %d | %s | %s | %s |\n", e.Time.Format("2006-01-02 15:04"), cell(commit), cell(e.Kind), cell(e.Workload),
			grouped(e.Operations), grouped(faults), took, e.Seed, cell(string(e.Verdict)), cell(e.Sentence), cell(strings.Join(figures, ", ")))
	}
	last := &entries[len(entries)-1]
	fmt.Fprintf(b, "\n%s lines; the last, of %s, has the hash `%s`.\n", grouped(len(entries)), last.Time.Format(time.RFC3339), last.Hash)
}

// cell makes any text fit for a cell of a table.
func cell(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", "*", `\*`, "`", "\\`", "[", `\[`).Replace(s)
}

// number writes a figure with at most three digits behind the point.
func number(v float64) string {
	if v == float64(int64(v)) {
		return grouped(int(v))
	}
	return strconv.FormatFloat(float64(int64(v*1000+0.5))/1000, 'f', -1, 64)
}

// grouped writes a count with commas between its thousands.
func grouped(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
