package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/leasehold/leasehold/jepsen/check"
	"github.com/leasehold/leasehold/jepsen/history"
)

// ResultsFile is the file of a run's folder that holds its Results.
const ResultsFile = "results.json"

// Results is what results.json holds.
type Results struct {
	Run Run `json:"run"`
	check.Report
	Operations int                  `json:"operations"`
	Outcomes   map[history.Type]int `json:"outcomes"`
	Events     int                  `json:"events"` // that watches delivered
	Seconds    float64              `json:"seconds"`
	Faults     []Faults             `json:"faults,omitempty"`
	Gaps       []Gap                `json:"gaps,omitempty"`
	First      *check.Finding       `json:"first,omitempty"` // the finding to look at first
}

// Faults are the faults of one kind.
type Faults struct {
	Kind   string `json:"kind"`
	Family string `json:"family"`
	Count  int    `json:"count"`
	Felt   int    `json:"felt"`             // something shows that it was felt
	Failed int    `json:"failed,omitempty"` // it could not be done
	Time   int64  `json:"time"`             // nanoseconds in force, together
	Effect string `json:"effect,omitempty"` // of the first that was felt
	Error  string `json:"error,omitempty"`  // of the first that failed
}

// Unfelt is how many were done without anything to show that they were felt.
func (f Faults) Unfelt() int { return f.Count - f.Felt - f.Failed }

// summarize puts a run's results together.
func summarize(h *history.History, verdict check.Report, run Run) Results {
	r := Results{Run: run, Report: verdict, Operations: len(h.Operations), Outcomes: make(map[history.Type]int), Seconds: time.Duration(h.End).Seconds(),
		Faults: faultsByKind(h), Gaps: Gaps(h), First: First(verdict)}
	for i := range h.Operations {
		r.Outcomes[h.Operations[i].Outcome]++
	}
	for i := range h.Streams {
		r.Events += len(h.Streams[i].Changes)
	}
	return r
}

// First is the finding to look at first: the earliest of the worst, or nil if nothing was found.
func First(verdict check.Report) *check.Finding {
	all := findings(verdict)
	if len(all) == 0 {
		return nil
	}
	return &all[0]
}

// findings are all findings, the worst first and of those the earliest.
func findings(verdict check.Report) []check.Finding {
	rank := func(v check.Verdict) int {
		return slices.Index([]check.Verdict{check.Broken, check.Unknown, check.Invalid}, v)
	}
	var all []check.Finding
	for _, result := range verdict.Results {
		all = append(all, result.Findings...)
	}
	slices.SortStableFunc(all, func(a, b check.Finding) int {
		return cmp.Or(cmp.Compare(rank(a.Verdict), rank(b.Verdict)), cmp.Compare(a.Time, b.Time))
	})
	return all
}

func faultsByKind(h *history.History) []Faults {
	place := make(map[string]int)
	var all []Faults
	for i := range h.Windows {
		w := &h.Windows[i]
		p, known := place[w.Kind]
		if !known {
			p = len(all)
			place[w.Kind] = p
			all = append(all, Faults{Kind: w.Kind, Family: family(w.Family)})
		}
		f := &all[p]
		f.Count++
		f.Time += stops(w, h.End) - w.Start
		switch {
		case w.Error != "":
			f.Failed++
			f.Error = cmp.Or(f.Error, w.Error)
		case w.Effect != "":
			f.Felt++
			f.Effect = cmp.Or(f.Effect, w.Effect)
		}
	}
	slices.SortFunc(all, func(a, b Faults) int {
		return cmp.Or(cmp.Compare(familyRank(a.Family), familyRank(b.Family)), cmp.Compare(a.Kind, b.Kind))
	})
	return all
}

// ReadResults reads a run's results back from its folder.
func ReadResults(dir string) (Results, error) {
	return readResults(os.DirFS(dir), ResultsFile)
}

func readResults(files fs.FS, name string) (Results, error) {
	var r Results
	data, err := fs.ReadFile(files, name)
	if err != nil {
		return r, fmt.Errorf("read results: %w", err)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("read results: %s: %w", name, err)
	}
	return r, nil
}

func writeJSON(path string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}
