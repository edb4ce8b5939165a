package jepsen

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/leasehold/leasehold/jepsen/check"
	"github.com/leasehold/leasehold/jepsen/nemesis"
)

// Minimal is the smallest run found that still breaks what the first one broke.
type Minimal struct {
	Spec    Spec
	Outcome Outcome // of the last run that broke it
	Runs    int
}

// Minimize does a run again with ever fewer faults, workloads and clients, as long as the same guarantee is broken. What
// depends on luck is tried several times before it counts as not broken.
func Minimize(ctx context.Context, dir string, tries int, options Options) (Minimal, error) {
	spec, err := ReadSpec(dir)
	if err != nil {
		return Minimal{}, err
	}
	first, err := Rejudge(dir)
	if err != nil {
		return Minimal{}, err
	}
	broken := brokenGuarantees(first.Report)
	if len(broken) == 0 {
		return Minimal{}, errors.New("no guarantee was broken in this run, so there is nothing to make smaller")
	}
	m := &minimizer{run: Run, tries: tries, options: options, broken: broken, best: Minimal{Spec: spec, Outcome: first}}
	schedule, err := readSchedule(dir)
	if err != nil {
		return Minimal{}, err
	}
	var entries []int
	for _, e := range schedule.Entries {
		entries = append(entries, e.Index)
	}
	err = m.all(ctx, entries)
	return m.best, err
}

type minimizer struct {
	run     func(context.Context, Spec, Options) (Outcome, error)
	tries   int
	options Options
	broken  []string
	best    Minimal
}

// all leaves out whatever it can. entries are the indexes of the faults.
func (m *minimizer) all(ctx context.Context, entries []int) error {
	if err := m.workloads(ctx); err != nil {
		return err
	}
	if err := m.entries(ctx, entries); err != nil {
		return err
	}
	return m.clients(ctx)
}

// breaks tells whether a spec breaks the same guarantee, and makes it the best so far if it does.
func (m *minimizer) breaks(ctx context.Context, spec Spec) (bool, error) {
	for range m.tries {
		m.best.Runs++
		outcome, err := m.run(ctx, spec, m.options)
		if err != nil {
			return false, err
		}
		if outcome.Report.Verdict != check.Broken {
			continue
		}
		if slices.ContainsFunc(brokenGuarantees(outcome.Report), func(g string) bool { return slices.Contains(m.broken, g) }) {
			m.best.Spec, m.best.Outcome = spec, outcome
			fmt.Fprintf(m.options.Out, "still broken: %s\n", outcome.Report.Sentence)
			return true, nil
		}
	}
	return false, nil
}

// workloads leaves one workload out after the other.
func (m *minimizer) workloads(ctx context.Context) error {
	for _, name := range slices.Clone(m.best.Spec.Workloads) {
		if len(m.best.Spec.Workloads) == 1 {
			return nil
		}
		spec := m.best.Spec
		spec.Workloads = slices.DeleteFunc(slices.Clone(spec.Workloads), func(n string) bool { return n == name })
		if _, err := m.breaks(ctx, spec); err != nil {
			return err
		}
	}
	return nil
}

// entries halves the faults, then leaves out ever smaller parts of them, as delta debugging does.
func (m *minimizer) entries(ctx context.Context, entries []int) error {
	for parts := 2; len(entries) > 0; {
		size := (len(entries) + parts - 1) / parts
		smaller := false
		for from := 0; from < len(entries); from += size {
			spec := m.best.Spec
			spec.Only = append(append([]int{}, entries[:from]...), entries[min(from+size, len(entries)):]...)
			broken, err := m.breaks(ctx, spec)
			if err != nil {
				return err
			}
			if broken {
				entries, smaller = spec.Only, true
				break
			}
		}
		switch {
		case smaller:
			parts = max(2, parts-1)
		case size == 1:
			return nil
		default:
			parts = min(2*parts, len(entries))
		}
	}
	return nil
}

// clients halves the clients and their rate.
func (m *minimizer) clients(ctx context.Context) error {
	for m.best.Spec.Clients > 1 {
		spec := m.best.Spec
		spec.Clients, spec.Rate = spec.Clients/2, spec.Rate/2
		broken, err := m.breaks(ctx, spec)
		if err != nil || !broken {
			return err
		}
	}
	return nil
}

func readSchedule(dir string) (nemesis.Schedule, error) {
	file, err := openIn(dir, scheduleFile)
	if err != nil {
		return nemesis.Schedule{}, err
	}
	defer file.Close()
	return nemesis.ReadSchedule(file)
}
