package report

import (
	"bytes"
	"cmp"
	_ "embed" // for the page
	"html/template"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/leasehold/leasehold/jepsen/check"
	"github.com/leasehold/leasehold/jepsen/history"
)

//go:embed page.html
var pageText string

// page is what index.html shows.
type page struct {
	Results
	Promise  Promise
	Steps    []step
	Around   bool // the steps are only what happened at about that time
	Swim     template.HTML
	InForce  []fault
	Keys     []keyHistory
	Raw      []quoted
	RawCut   int
	Others   []other
	More     int
	Worst    []Gap
	Files    []string
	Logs     []string
	Counters []counter
	Never    int64
}

// fault is a fault in force at the time of a finding.
type fault struct {
	Name, Family, Text string
}

// other is a finding that is not the first.
type other struct {
	check.Finding
	Promise Promise
}

type counter struct {
	Name  string
	Count int
}

const mostOthers = 50

// index renders index.html.
func index(dir string, h *history.History, results Results) ([]byte, error) {
	p := page{Results: results, Never: history.Never}
	if results.First != nil {
		if err := p.explain(dir, h, results.First); err != nil {
			return nil, err
		}
		rest := findings(results.Report)[1:]
		for _, f := range rest[:min(len(rest), mostOthers)] {
			p.Others = append(p.Others, other{f, promise(f.Guarantee)})
		}
		p.More = len(rest) - len(p.Others)
		for _, r := range results.Results {
			p.More += r.More
		}
	}
	for _, name := range slices.Sorted(maps.Keys(results.Counts)) {
		p.Counters = append(p.Counters, counter{name, results.Counts[name]})
	}
	for _, g := range results.Gaps {
		if g.Node == "" {
			p.Worst = append(p.Worst, g)
		}
	}
	p.Files, p.Logs = artefacts(dir)
	t, err := template.New("page").Funcs(words()).Parse(pageText)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, &p); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// explain gathers all that helps to understand a finding.
func (p *page) explain(dir string, h *history.History, f *check.Finding) error {
	p.Promise = promise(f.Guarantee)
	lines := make(map[int64]bool)
	for _, line := range f.Lines[:min(len(f.Lines), mostRaw)] {
		lines[line] = true
	}
	raw, err := quote(dir, lines)
	if err != nil {
		return err
	}
	p.Raw, p.RawCut = raw, max(len(f.Lines)-mostRaw, 0)
	events := make(map[int64]history.Event)
	for _, q := range raw {
		if q.event.Index != 0 {
			events[q.Line] = q.event
		}
	}
	p.Steps = steps(h, f, events)
	if len(p.Steps) == 0 {
		p.Steps, p.Around = about(h, f), true
		for _, s := range p.Steps {
			lines[s.Line] = true
		}
		if p.Raw, err = quote(dir, lines); err != nil {
			return err
		}
	}
	concerned := make(map[int64]bool)
	for _, s := range p.Steps {
		concerned[s.Line] = true
	}
	p.Swim = template.HTML(swimlanes(h, p.Steps, beside(h, f, p.Steps, concerned), f.Faults, nodes(h, p.Run))) // put escapes what it draws
	for _, name := range f.Faults {
		one := fault{Name: name, Family: "other", Text: name}
		for i := range h.Windows {
			if w := &h.Windows[i]; w.Name == name {
				one.Family, one.Text = family(w.Family), tell(w, h.End)
			}
		}
		p.InForce = append(p.InForce, one)
	}
	for _, key := range f.Keys[:min(len(f.Keys), mostKeys)] {
		p.Keys = append(p.Keys, historyOf(h, key, concerned))
	}
	return nil
}

// about are operations at about the time of a finding that names no lines: those on its objects if it names any.
func about(h *history.History, f *check.Finding) []step {
	const near = int64(time.Second)
	var all []step
	for i := range h.Operations {
		op := &h.Operations[i]
		if op.Invoked <= f.Time+near && min(op.Settled, h.End) >= f.Time-near && (len(f.Keys) == 0 || slices.Contains(f.Keys, op.Request.Key)) {
			all = append(all, operationStep(op))
		}
	}
	slices.SortStableFunc(all, func(a, b step) int { return cmp.Compare(a.distance(f.Time), b.distance(f.Time)) })
	all = all[:min(len(all), mostAround)]
	slices.SortStableFunc(all, func(a, b step) int { return cmp.Compare(a.From, b.From) })
	for i := range all {
		all[i].Number = i + 1
	}
	return all
}

// beside are operations on the same objects at about the same time, the nearest to the decisive one.
func beside(h *history.History, f *check.Finding, all []step, concerned map[int64]bool) []step {
	if len(all) == 0 {
		return nil
	}
	from, to := around(all, h.End)
	var near []step
	for i := range h.Operations {
		op := &h.Operations[i]
		if concerned[op.Index] || op.Invoked > to || min(op.Settled, h.End) < from || !slices.Contains(f.Keys, op.Request.Key) {
			continue
		}
		near = append(near, operationStep(op))
	}
	slices.SortStableFunc(near, func(a, b step) int { return cmp.Compare(a.distance(f.Time), b.distance(f.Time)) })
	return near[:min(len(near), mostContext)]
}

// nodes are the names of all nodes that the run or its history names.
func nodes(h *history.History, run Run) []string {
	if len(run.Nodes) > 0 {
		return run.Nodes
	}
	names := make(map[string]bool)
	for i := range h.Samples {
		names[h.Samples[i].Node] = true
	}
	for i := range h.Operations {
		names[h.Operations[i].Node] = true
	}
	delete(names, "")
	return slices.Sorted(maps.Keys(names))
}

// artefacts are the files of a run's folder that the page links, and the nodes' logs among them.
func artefacts(dir string) (files, logs []string) {
	found, err := os.ReadDir(dir)
	if err != nil {
		found = nil // the page can do without
	}
	for _, entry := range found {
		name := entry.Name()
		if entry.Type().IsRegular() && !strings.HasPrefix(name, ".") && name != "index.html" && filepath.Ext(name) != ".svg" {
			files = append(files, name)
		}
	}
	for _, pattern := range []string{"nodes/*/*", "clients/*"} {
		found, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
		if err != nil {
			continue // only of a bad pattern, and a folder's name may make it one
		}
		for _, path := range found {
			info, err := os.Stat(path)
			name, outside := filepath.Rel(dir, path)
			if err == nil && outside == nil && info.Mode().IsRegular() && !strings.HasPrefix(filepath.Base(path), ".") {
				logs = append(logs, filepath.ToSlash(name))
			}
		}
	}
	return files, logs[:min(len(logs), 200)]
}

// words are the functions of the templates.
func words() template.FuncMap {
	return template.FuncMap{
		"at": at, "span": span, "grouped": grouped, "plural": plural, "join": strings.Join, "promise": promise, "clip": clip,
		"faults": func(all []Faults) (n int) {
			for _, f := range all {
				n += f.Count
			}
			return n
		},
		"duration": func(seconds float64) string { return span(int64(seconds * 1e9)) },
		"percent": func(part, whole int) int {
			return 100 * part / max(whole, 1)
		},
		"verdictWord": verdictWord,
		// The verdict stands above the sentence already.
		"headline": func(sentence string) string {
			_, rest, _ := strings.Cut(sentence, " ")
			for _, v := range []check.Verdict{check.Pass, check.Broken, check.Unknown, check.Invalid} {
				if strings.HasPrefix(sentence, verdictWord(v)+" ") || strings.HasPrefix(sentence, verdictWord(v)+": ") {
					return rest
				}
			}
			return sentence
		},
		"short": func(commit string) string { return commit[:min(len(commit), 12)] },
	}
}

// verdictWord is how a verdict is called before people.
func verdictWord(v check.Verdict) string {
	switch v {
	case check.Pass:
		return "PASS"
	case check.Broken:
		return "FAIL"
	case check.Unknown:
		return "UNKNOWN"
	case check.Invalid:
		return "INVALID"
	default:
		return string(v)
	}
}
