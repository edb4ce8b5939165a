package jepsen

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/leasehold/leasehold/jepsen/check"
	"github.com/leasehold/leasehold/jepsen/history"
	"github.com/leasehold/leasehold/jepsen/nemesis"
	"github.com/leasehold/leasehold/jepsen/report"
)

const (
	// factsFile holds what a judgement needs and the history does not tell.
	factsFile = "facts.json"
	// leastShare is the part of the operations asked for below which a run shows too little. Faults stop clients for a
	// while, and a machine may be too slow for the rate; but not for most of it.
	leastShare = 0.02
)

// facts are what is known of a run besides its history.
type facts struct {
	Began time.Time `json:"began"`
	Mode  string    `json:"mode"`
	Why   string    `json:"why,omitempty"`
	Nodes []string  `json:"nodes"`
	// LeftOut are nodes that stayed down for good, with the reason: nothing is asked of them in the end.
	LeftOut map[string]string `json:"leftOut,omitempty"`
	// Prefix begins the names of all namespaces that the run used. What is in others is not judged.
	Prefix   string             `json:"prefix"`
	Version  string             `json:"version,omitempty"`
	Command  string             `json:"command,omitempty"`
	Kinds    []string           `json:"kinds,omitempty"` // that the schedule has
	Exits    []string           `json:"exits,omitempty"`
	Troubles []string           `json:"troubles,omitempty"`
	Notices  []string           `json:"notices,omitempty"`
	Harness  report.Environment `json:"harness"`
}

// judge judges the run just done and reports it.
func (r *run) judge(began time.Time) (check.Report, nemesis.Coverage, Figures, error) {
	f := facts{Began: began, Mode: r.place.mode, Why: r.place.why, Nodes: r.place.nodes, LeftOut: r.leftOut, Prefix: r.prefix, Version: r.place.version, Command: r.options.Command,
		Exits: r.place.exits, Notices: r.notices, Harness: surroundings(r.spec.Binary, r.place.version)}
	for _, e := range r.schedule.Entries {
		if !slices.Contains(f.Kinds, e.Kind) {
			f.Kinds = append(f.Kinds, e.Kind)
		}
	}
	for _, err := range r.troubles {
		f.Troubles = append(f.Troubles, err.Error())
	}
	if err := writeJSON(filepath.Join(r.dir, factsFile), f); err != nil {
		return check.Report{}, nemesis.Coverage{}, nil, err
	}
	return judgeHistory(r.dir, r.spec, f, r.builder.History())
}

// Rejudge judges the history in a run's folder by the checkers of today, and writes the report anew.
func Rejudge(dir string) (Outcome, error) {
	began := time.Now()
	spec, err := ReadSpec(dir)
	if err != nil {
		return Outcome{}, err
	}
	var f facts
	data, err := os.ReadFile(filepath.Join(dir, factsFile))
	if err == nil {
		err = json.Unmarshal(data, &f)
	}
	if err != nil {
		return Outcome{}, fmt.Errorf("read the facts of the run: %w", err)
	}
	file, err := os.Open(filepath.Join(dir, historyFile))
	if err != nil {
		return Outcome{}, fmt.Errorf("read the history of the run: %w", err)
	}
	defer file.Close()
	h, err := history.Read(file)
	if err != nil {
		return Outcome{}, err
	}
	verdict, coverage, figures, err := judgeHistory(dir, spec, f, h)
	return Outcome{Dir: dir, Began: f.Began, Took: time.Since(began), Mode: f.Mode, Report: verdict, Coverage: coverage, Figures: figures}, err
}

// judgeHistory has all checkers judge a history and writes the report into the run's folder.
func judgeHistory(dir string, spec Spec, f facts, h *history.History) (check.Report, nemesis.Coverage, Figures, error) {
	coverage := nemesis.Cover(h)
	verdict := check.Judge(h, spec.judging(f))
	logs, err := judgeLogs(dir, f)
	if err != nil {
		return verdict, coverage, nil, err
	}
	verdict.Results = append(verdict.Results, logs)
	verdict.Sum()
	return verdict, coverage, measure(h, verdict), errors.Join(writeTimeline(dir, h, verdict), report.Write(dir, h, verdict, report.Run{
		Name: filepath.Base(dir), Began: f.Began, Workload: strings.Join(spec.Workloads, ","), Nemesis: strings.Join(append(slices.Clone(spec.Nemesis), spec.Pairs...), ","),
		Seed: spec.Seed, Nodes: f.Nodes, Mode: f.Mode, Why: f.Why, Command: f.Command, Bug: spec.bug(), Environment: f.Harness,
	}))
}

// judging are the checkers' options for a run.
func (s *Spec) judging(f facts) check.Options {
	expected := s.Rate * s.Duration.Seconds()
	o := check.Options{Nodes: slices.DeleteFunc(slices.Clone(f.Nodes), func(node string) bool { return f.LeftOut[node] != "" }), Kinds: f.Kinds, NeedFaults: s.Only == nil && len(s.Nemesis)+len(s.Pairs) > 0, NeedStreams: true,
		MinOperations: int(expected * leastShare), MinAcked: int(expected * leastShare / 10), Own: []string{f.Prefix}}
	if s.Remote != nil {
		o.Peer = true
	}
	return o
}

// bug names the fault that is seeded into the server, "" if none is.
func (s *Spec) bug() string {
	for _, setting := range s.Env {
		if name, ok := strings.CutPrefix(setting, BugVariable+"="); ok {
			return name
		}
	}
	return ""
}

// judgeLogs judges what the nodes said, and what went wrong beside the history.
func judgeLogs(dir string, f facts) (check.Result, error) {
	result := check.Result{Checker: "nodes", Judges: []string{"log"}, Verdict: check.Pass}
	for _, node := range f.Nodes {
		path := filepath.Join(dir, "nodes", node, "stderr.log")
		file, err := os.Open(path)
		if errors.Is(err, os.ErrNotExist) {
			continue // somebody else runs it
		}
		if err != nil {
			return result, err
		}
		findings, err := check.Logs(node, file)
		_ = file.Close()
		if err != nil {
			return result, err
		}
		result.Checked++
		result.Findings = append(result.Findings, findings...)
	}
	for _, trouble := range f.Troubles {
		result.Findings = append(result.Findings, check.Finding{Guarantee: "D5", Verdict: check.Broken, Sentence: trouble})
	}
	sort.SliceStable(result.Findings, func(i, j int) bool { return result.Findings[i].Time < result.Findings[j].Time })
	if len(result.Findings) > 0 {
		result.Verdict = check.Broken
	}
	if len(f.Exits) > 0 {
		result.Note = fmt.Sprintf("%d times a process ended by itself, first: %s", len(f.Exits), f.Exits[0])
	}
	return result, nil
}

func writeTimeline(dir string, h *history.History, verdict check.Report) error {
	file, err := os.Create(filepath.Join(dir, timelineFile))
	if err != nil {
		return err
	}
	return errors.Join(check.WriteTimeline(h, verdict, file), file.Close())
}

// dropData removes the nodes' data from a run's folder. Logs, history and report stay.
func dropData(dir string) error {
	nodes, err := os.ReadDir(filepath.Join(dir, "nodes"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, node := range nodes {
		for _, name := range []string{"data", "disk.img"} {
			if err := os.RemoveAll(filepath.Join(dir, "nodes", node.Name(), name)); err != nil {
				return fmt.Errorf("drop the data of a run that passed: %w", err)
			}
		}
	}
	return nil
}
