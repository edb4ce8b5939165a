package check

import (
	"slices"
	"strconv"

	"github.com/leasehold/leasehold/jepsen/history"
)

// judgeHashes judges that replicas do not differ (D4): one log index has one hash, on all nodes and at all times, and at the end
// all nodes are at one revision with one hash.
func judgeHashes(l *log) Result {
	r := l.reporter("hash", "D4")
	first := make(map[uint64]*history.Event)
	var final []*history.Event
	told := make(map[uint64]bool)
	for i := range l.h.Samples {
		e := &l.h.Samples[i]
		s := e.Sample
		if s == nil {
			continue
		}
		if s.Final {
			// A node may be asked again until it is level: its last account counts.
			final = slices.DeleteFunc(final, func(o *history.Event) bool { return o.Node == e.Node })
			final = append(final, e)
		}
		if s.Hash == "" {
			continue
		}
		r.result.Checked++
		other, known := first[s.HashIndex]
		if !known {
			first[s.HashIndex] = e
			continue
		}
		if other.Sample.Hash != s.Hash && !told[s.HashIndex] {
			told[s.HashIndex] = true
			r.broke("D4", evidence{other.Time, e.Time, []int64{e.Index, other.Index}, nil},
				"replicas differ: at log index %d %s has hash %s and %s has %s", s.HashIndex, e.Node, s.Hash, other.Node, other.Sample.Hash)
		}
	}
	for i, e := range final {
		proof := evidence{e.Time, e.Time, []int64{e.Index, final[0].Index}, nil}
		a, s := final[0].Sample, e.Sample
		switch {
		case s.Error != "":
			r.broke("D4", proof, "%s did not come back after everything was healed: %s", e.Node, s.Error)
		case a.Error != "" || i == 0:
		case s.Revision != a.Revision:
			r.broke("D4", proof, "nodes are not level after everything was healed: %s is at revision %d and %s at %d", e.Node, s.Revision, final[0].Node, a.Revision)
		case s.Hash != a.Hash && s.HashIndex == a.HashIndex && s.Hash != "" && a.Hash != "" && !told[s.HashIndex]:
			r.broke("D4", proof, "nodes differ after everything was healed: at revision %d %s has hash %s and %s has %s", s.Revision, e.Node, s.Hash, final[0].Node, a.Hash)
		}
	}
	r.result.Note = strconv.Itoa(len(first)) + " log indexes compared"
	return r.done()
}
