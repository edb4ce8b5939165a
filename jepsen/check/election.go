package check

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/leasehold/leasehold/jepsen/history"
)

// judgeElections judges the leases that electors hold by the order of revisions (E1): who holds one changes only by a write
// that demanded the revision before, each takeover counts one more transition, and a former holder comes back only by a takeover.
func judgeElections(l *log) Result {
	r := l.reporter("election", "E1")
	takeovers := 0
	for key, entries := range l.byKey {
		if !l.elected[l.keys[key]] {
			continue
		}
		for _, at := range entries {
			e := &l.entries[at]
			if e.gone || e.disputed || !l.present(e.prev) {
				continue
			}
			r.result.Checked++
			if e.version.Holder != "" && e.version.Holder != l.entries[e.prev].version.Holder {
				takeovers++
			}
			r.tenure(at, e, &l.entries[e.prev])
		}
	}
	r.result.Note = strconv.Itoa(takeovers) + " takeovers"
	return r.done()
}

func (r *reporter) tenure(at int32, e, before *entry) {
	name := r.keys[e.key]
	proof := evidence{e.seen, e.seen, []int64{e.line, before.line}, []string{name}}
	from, to := before.version, e.version
	if e.writer != none && from.Holder != to.Holder {
		if op := &r.h.Operations[e.writer]; op.Request.Revision != decimal(before.revision) {
			r.broke("E1", proof, "the holder of %s changed from %q to %q by %s, which did not demand revision %d, the one before", name, from.Holder, to.Holder, r.change(at), before.revision)
			return
		}
	}
	switch {
	case to.Transitions < from.Transitions:
		r.broke("E1", proof, "leaseTransitions of %s fell from %d to %d with %s: %q wrote over a takeover by %q", name, from.Transitions, to.Transitions, r.change(at), to.Holder, from.Holder)
	case to.Holder != "" && to.Holder != from.Holder && to.Transitions != from.Transitions+1:
		r.broke("E1", proof, "%q took %s from %q with %s and leaseTransitions went from %d to %d, not up by one", to.Holder, name, from.Holder, r.change(at), from.Transitions, to.Transitions)
	case (to.Holder == from.Holder || to.Holder == "") && to.Transitions != from.Transitions:
		r.broke("E1", proof, "leaseTransitions of %s went from %d to %d with %s although nobody took it over", name, from.Transitions, to.Transitions, r.change(at))
	}
}

// belief is a time during which an elector believed to hold a lease.
type belief struct {
	process, holder string
	from, to        int64
	disturbed       bool
	lines           []int64
}

// judgeBeliefs judges that no two electors believed to hold one lease at once (E2). It is promised only where neither was
// paused, cut off or ran on a clock of another rate; the longest overlap of all is always told.
func judgeBeliefs(l *log) Result {
	r := l.reporter("tenure", "E2")
	perKey := make(map[string][]belief)
	open := make(map[string]int) // by key and process, its place in perKey
	for i := range l.h.Tenures {
		e := &l.h.Tenures[i]
		t := e.Tenure
		if t == nil {
			continue
		}
		r.result.Checked++
		name := t.Key + "\x00" + e.Process
		if e.Type == history.Lead {
			open[name] = len(perKey[t.Key])
			perKey[t.Key] = append(perKey[t.Key], belief{e.Process, t.Holder, t.At, history.Never, t.Disturb, []int64{e.Index}})
			continue
		}
		if at, ok := open[name]; ok {
			b := &perKey[t.Key][at]
			b.to, b.disturbed, b.lines = t.At, b.disturbed || t.Disturb, append(b.lines, e.Index)
			delete(open, name)
		}
	}
	var worst int64
	told := "no two electors ever overlapped"
	for _, key := range slices.Sorted(maps.Keys(perKey)) {
		beliefs := perKey[key]
		slices.SortStableFunc(beliefs, func(a, b belief) int { return cmp.Compare(a.from, b.from) })
		for i := range beliefs {
			for j := i + 1; j < len(beliefs) && beliefs[j].from < beliefs[i].to; j++ {
				a, b := &beliefs[i], &beliefs[j]
				if a.process == b.process || a.to == history.Never || b.to == history.Never {
					continue // one that never said that it stopped was killed: nobody knows what it believed last
				}
				overlap := min(a.to, b.to) - b.from
				if overlap <= 0 {
					continue
				}
				if overlap > worst {
					worst = overlap
					told = "worst overlap " + length(worst) + ", of " + a.holder + " and " + b.holder + " on " + key + " at " + seconds(b.from)
				}
				if !a.disturbed && !b.disturbed {
					r.broke("E2", evidence{b.from, b.from + overlap, append(slices.Clone(b.lines), a.lines...), []string{key}},
						"%s and %s both believed to hold %s for %s from %s on, and neither had been disturbed", a.holder, b.holder, key, length(overlap), seconds(b.from))
				}
			}
		}
	}
	r.result.Note = told
	return r.done()
}
