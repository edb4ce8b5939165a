package check

import (
	"slices"
	"sort"

	"github.com/leasehold/leasehold/jepsen/history"
)

// judgeValidity judges the run itself: one that did little, or whose faults nobody felt, shows nothing.
func judgeValidity(l *log) Result {
	r := l.reporter("validity", "validity")
	acked := 0
	for i := range l.h.Operations {
		if op := &l.h.Operations[i]; op.Outcome == history.OK && writes(op.F) {
			acked++
		}
	}
	r.result.Checked = len(l.h.Operations)
	whole := evidence{l.h.End, l.h.End, nil, nil}
	invalid := func(format string, values ...any) { r.note(Invalid, "validity", whole, format, values...) }
	if n := len(l.h.Operations); n < l.options.MinOperations {
		invalid("the run had %d operations and needs %d to show anything", n, l.options.MinOperations)
	}
	if acked < l.options.MinAcked {
		invalid("the run had %d acknowledged writes and needs %d to show anything", acked, l.options.MinAcked)
	}
	r.felt(invalid)
	if l.options.NeedStreams {
		r.caughtUp(invalid)
	}
	return r.done()
}

// fairChance is how often a kind must have struck before it counts that it was never felt, if others were: among others
// that overlap a single one may well find nothing to spoil.
const fairChance = 4

// felt judges that each kind of fault was felt at least once, and that clients were at work meanwhile.
func (r *reporter) felt(invalid func(string, ...any)) {
	if r.options.NeedFaults && len(r.h.Windows) == 0 {
		invalid("the run had no fault")
	}
	kinds := slices.Clone(r.options.Kinds)
	felt := make(map[string]string)
	busy := false
	for i := range r.h.Windows {
		w := &r.h.Windows[i]
		if !slices.Contains(kinds, w.Kind) {
			kinds = append(kinds, w.Kind)
		}
		if w.Effect != "" {
			felt[w.Kind] = w.Effect
		}
		busy = busy || r.inFlight(w)
	}
	if len(r.h.Windows) > 0 && !busy {
		invalid("no operation was under way during any fault")
	}
	for _, kind := range kinds {
		if felt[kind] == "" {
			n, why := 0, ""
			for i := range r.h.Windows {
				if w := &r.h.Windows[i]; w.Kind == kind {
					n++
					if w.Error != "" {
						why = ": " + w.Error
					}
				}
			}
			if n >= fairChance && !r.options.MayMiss || len(felt) == 0 {
				invalid("none of the %d faults of kind %s was felt%s", n, kind, why)
			}
		}
	}
}

// inFlight tells whether an operation was under way during a fault.
func (r *reporter) inFlight(w *history.Window) bool {
	ops := r.h.Operations
	i := sort.Search(len(ops), func(i int) bool { return ops[i].Invoked >= w.Start })
	if i < len(ops) && ops[i].Invoked <= w.Stop {
		return true
	}
	for i--; i >= 0; i-- {
		if ops[i].Settled >= w.Start {
			return true
		}
	}
	return false
}

// caughtUp judges that each node showed all that happened to a watch.
func (r *reporter) caughtUp(invalid func(string, ...any)) {
	reached := make(map[string]uint64)
	for i := range r.h.Streams {
		s := &r.h.Streams[i]
		if s.Outcome == history.OK && s.Request.Group == "" && r.coversAll(s.Request.Key) {
			reached[s.Node] = max(reached[s.Node], acknowledged(s))
		}
	}
	last := uint64(0)
	for i := len(r.entries) - 1; i >= 0 && last == 0; i-- {
		if !r.entries[i].disputed {
			last = r.entries[i].revision
		}
	}
	for _, node := range r.nodes() {
		if reached[node] < last {
			invalid("the watches of everything at %s came to revision %d and not to %d, the last, so they do not show all", node, reached[node], last)
		}
	}
}
