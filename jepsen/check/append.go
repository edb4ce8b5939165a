package check

import (
	"slices"

	"github.com/leasehold/leasehold/jepsen/history"
)

// judgeAppends judges lists of elements along the order of revisions: each version's is the one before with at most its
// writer's element at the end. So what any reader saw is a prefix of what any later one sees.
func judgeAppends(l *log) Result {
	r := l.reporter("append", "A1", "O3")
	appended := make([]bool, len(l.keys))
	for i := range l.h.Operations {
		if op := &l.h.Operations[i]; op.Request.Append != "" && l.opKey[i] != none {
			appended[l.opKey[i]] = true
		}
	}
	for key, is := range appended {
		if !is {
			continue
		}
		for _, at := range l.byKey[key] {
			if e := &l.entries[at]; !e.gone && !e.disputed {
				r.result.Checked++
				r.elements(at, e)
			}
		}
	}
	return r.done()
}

func (r *reporter) elements(at int32, e *entry) {
	now := e.version.Elements
	var before []string
	proof := evidence{e.seen, e.seen, []int64{e.line}, []string{r.keys[e.key]}}
	if r.present(e.prev) {
		before = r.entries[e.prev].version.Elements
		proof.lines = append(proof.lines, r.entries[e.prev].line)
	} else if e.prev == none && e.writer == none {
		return // nobody saw it being made
	}
	added := ""
	if writer, ok := r.writers.find(e.version.ID); ok { // also of one that took effect twice and so is nobody's
		added = r.h.Operations[writer].Request.Append
	}
	if e.writer != none && r.h.Operations[e.writer].F == history.Delete {
		return // it only marked the object
	}
	n := len(before)
	switch {
	case len(now) == n && slices.Equal(now, before) && added == "":
	case len(now) == n+1 && slices.Equal(now[:n], before) && now[n] == added:
		if slices.Contains(before, added) {
			r.broke("A1", proof, "element %q was appended to %s a second time with %s", added, r.keys[e.key], r.change(at))
		}
	case len(now) > n+1 && slices.Equal(now[:n], before) && added != "" && now[n] == added && now[n+1] == added:
		r.broke("A1", proof, "%s appended element %q to %s more than once", r.change(at), added, r.keys[e.key])
	case r.open(e.key, e.seen):
	case len(now) < n:
		r.broke("O3", proof, "%s had %d elements and has %d after %s: %q is lost", r.keys[e.key], n, len(now), r.change(at), firstMissing(before, now))
	case !slices.Equal(now[:n], before):
		r.broke("O3", proof, "the elements of %s are in another order, or others, after %s: %q was at the place of %q", r.keys[e.key], r.change(at), firstMissing(before, now), now[firstDifference(before, now)])
	case len(now) == n:
		r.broke("O3", proof, "element %q is not in %s after %s, which appended it", added, r.keys[e.key], r.change(at))
	default:
		r.broke("O3", proof, "%s appended %q to %s, which has %q instead", r.change(at), added, r.keys[e.key], now[n:])
	}
}

func firstDifference(before, now []string) int {
	for i := range before {
		if i >= len(now) || before[i] != now[i] {
			return i
		}
	}
	return len(before)
}

func firstMissing(before, now []string) string {
	return before[min(firstDifference(before, now), len(before)-1)]
}
