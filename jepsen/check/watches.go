package check

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/leasehold/leasehold/jepsen/history"
)

// watches judges each stream by itself against the whole log: between where it began and the last revision that it
// acknowledged, it must have delivered each change that matches, once, in order, as what it is.
type watches struct {
	*reporter
}

func judgeWatches(l *log) Result {
	w := &watches{reporter: l.reporter("watch", "W1", "W2", "W3", "W4", "W5", "W6", "W7", "W8", "W9", "W10")}
	for i := range l.h.Streams {
		s := &l.h.Streams[i]
		if s.Outcome != history.OK {
			continue
		}
		w.result.Checked += len(s.Changes)
		w.stream(s)
	}
	return w.done()
}

// viewer is one stream on its way.
type viewer struct {
	*watches
	s     *history.Stream
	scope scope

	start     uint64 // the revision that it began after
	startOf   string // how that is known, for a person
	last      uint64 // the last revision delivered or acknowledged by a bookmark
	bookmark  uint64 // the last bookmark
	delivered int    // events that were delivered in order
	list      []int32
	all       map[uint64]bool // the revisions of all its events, once something was skipped
	position  int             // in list, or in the log: the next entry that it has to show
}

func (w *watches) stream(s *history.Stream) {
	v := &viewer{watches: w, s: s, scope: w.scope(s.Request)}
	changes := s.Changes
	asked, err := strconv.ParseUint(s.Request.Revision, 10, 64)
	switch {
	case s.Request.Initial:
		n, ok := v.initialEnd()
		if !ok {
			return // it ended before its beginning was whole
		}
		if !v.initial(changes[:n], changes[n].Revision, asked, true) {
			return
		}
		v.start, v.startOf = changes[n].Revision, "its initial events"
		changes = changes[n+1:]
	case err == nil && asked > 0:
		v.start, v.startOf = asked, "the revision it was asked to begin after"
	default:
		n := v.synthetic()
		if n == len(changes) || changes[n].Type == "ERROR" {
			return // nothing tells of which revision its beginning was, or whether it was whole
		}
		v.start = v.implied(n)
		if !v.initial(changes[:n], v.start, 0, true) {
			return
		}
		v.startOf = "what it began with"
		changes = changes[n:]
	}
	v.last = v.start
	v.list, v.position, _ = w.within(v.scope, v.start, v.start)
	for i := range changes {
		c := &changes[i]
		switch {
		case c.Type == "ERROR":
			return
		case c.Type == "BOOKMARK":
			v.mark(c)
		case c.Version != nil && c.Version.Revision > 0 && w.options.own(c.Version.Key):
			v.event(c)
		}
	}
}

// initialEnd finds the bookmark that ends the initial events.
func (v *viewer) initialEnd() (int, bool) {
	for i := range v.s.Changes {
		if v.s.Changes[i].InitialEnd {
			return i, true
		}
	}
	return 0, false
}

// synthetic is how many of the first events of a stream that asked for no revision show the state it began with. They are
// all ADDED, of different objects, and what follows is newer than all of them and rises.
func (v *viewer) synthetic() int {
	changes := v.s.Changes
	seen := make(map[string]bool)
	n, greatest := 0, uint64(0)
	for n < len(changes) && changes[n].Type == "ADDED" && changes[n].Version != nil && !seen[changes[n].Version.Key] {
		seen[changes[n].Version.Key] = true
		greatest = max(greatest, changes[n].Version.Revision)
		n++
	}
	for _, c := range changes[n:] {
		if c.Version == nil {
			continue
		}
		for n > 0 && c.Version.Revision <= greatest { // the last of them were events already
			n--
			greatest = 0
			for _, earlier := range changes[:n] {
				greatest = max(greatest, earlier.Version.Revision)
			}
		}
		break
	}
	return n
}

// implied is the revision that a stream began at which did not tell it: that before the first change it delivered.
func (v *viewer) implied(n int) uint64 {
	for i := range v.s.Changes[n:] {
		c := &v.s.Changes[n+i]
		if c.Version != nil && c.Version.Revision > 0 {
			return c.Version.Revision - 1
		}
		if c.Type == "BOOKMARK" && c.Revision > 0 {
			return c.Revision
		}
	}
	greatest := uint64(0)
	for i := range v.s.Changes[:n] {
		greatest = max(greatest, v.s.Changes[i].Version.Revision)
	}
	return greatest
}

// initial judges the events that show the state at the beginning (W8). whole says that all of them were delivered.
func (v *viewer) initial(changes []history.Arrival, revision, asked uint64, whole bool) bool {
	proof := evidence{v.s.Invoked, v.s.Opened, []int64{v.s.Index}, nil}
	if revision < asked {
		v.broke("W8", proof, "%s asked for initial events not older than revision %d and got those of %d", v.name(), asked, revision)
		return false
	}
	if v.s.Request.Initial && v.s.Request.Revision == "" {
		if known := v.knownBefore(v.s.Invoked); known > revision {
			v.broke("W8", proof, "%s began with the state of revision %d although revision %d was known when it was called at %s", v.name(), revision, known, seconds(v.s.Invoked))
			return false
		}
	}
	shown := make(map[int32]bool)
	for i := range changes {
		c := &changes[i]
		if c.Type == "BOOKMARK" || c.Version == nil || !v.options.own(c.Version.Key) {
			continue
		}
		at := proof
		at.to, at.lines, at.keys = c.Time, []int64{c.Index, v.s.Index}, []string{c.Version.Key}
		key := v.keyIndex[c.Version.Key]
		current := v.at(key, revision)
		switch {
		case c.Type != "ADDED":
			v.broke("W8", at, "%s got %s of %s among its initial events", v.name(), c.Type, c.Version.Key)
			return false
		case shown[key]:
			v.broke("W8", at, "%s got %s twice among its initial events", v.name(), c.Version.Key)
			return false
		case current == none || v.entries[current].revision != c.Version.Revision || !v.matches(v.scope, current) || !v.holds(v.scope, key):
			v.broke("W8", at, "%s got %s at revision %d among its initial events, which are of revision %d: that is not the state then", v.name(), c.Version.Key, c.Version.Revision, revision)
			return false
		}
		shown[key] = true
	}
	return !whole || v.shownAll(shown, revision, proof)
}

// shownAll judges that the initial events hold all that was there.
func (v *viewer) shownAll(shown map[int32]bool, revision uint64, proof evidence) bool {
	for space, members := range v.members {
		if v.scope.space != none && v.scope.space != int32(space) {
			continue
		}
		for _, key := range members {
			if shown[key] || !v.holds(v.scope, key) || v.open(key, v.s.Opened) {
				continue
			}
			name, current := v.keys[key], v.at(key, revision)
			if !v.matches(v.scope, current) || v.foreign(name) && !v.complete(v.entries[current].revision, revision) {
				continue
			}
			proof.keys, proof.lines = []string{name}, append(proof.lines, v.entries[current].line)
			v.broke("W8", proof, "%s, whose initial events are of revision %d, was not shown %s, which was there at %s", v.name(), revision, name, v.change(current))
			return false
		}
	}
	return true
}

func (v *viewer) name() string {
	return fmt.Sprintf("%s's stream %s", v.s.Node, v.s.Process)
}

// next returns the next entry that the stream has to show with a revision below limit, and goes past it.
func (v *viewer) next(limit uint64) (int32, bool) {
	for {
		at := int32(v.position)
		if v.list != nil {
			if v.position >= len(v.list) {
				return none, false
			}
			at = v.list[v.position]
		} else if v.position >= len(v.entries) {
			return none, false
		}
		if v.entries[at].revision >= limit {
			return none, false
		}
		v.position++
		if v.shows(at) {
			return at, true
		}
	}
}

// shows tells whether an entry is an event for the stream.
func (v *viewer) shows(at int32) bool {
	return v.scope.group == "" || v.matches(v.scope, at) || v.matches(v.scope, v.entries[at].prev)
}

// gap tells of the entries below limit that were not delivered, if there are any.
func (v *viewer) gap(limit uint64, c *history.Arrival, guarantee string) {
	first, more := none, 0
	for at, ok := v.next(limit); ok; at, ok = v.next(limit) {
		switch {
		case v.late(at): // it is told when it comes
		case first == none:
			first = at
		default:
			more++
		}
	}
	if first == none {
		return
	}
	e := &v.entries[first]
	proof := evidence{min(e.seen, c.Time), c.Time, []int64{c.Index, e.line, v.s.Index}, []string{v.keys[e.key]}}
	others := ""
	if more > 0 {
		others = fmt.Sprintf(" and %d more", more)
	}
	var how string
	switch {
	case guarantee == "W7":
		how = fmt.Sprintf("got a bookmark of %d", limit-1)
	case v.delivered == 0 && v.bookmark == 0:
		guarantee = "W6"
		how = fmt.Sprintf("began with revision %d after %s, %d,", limit, v.startOf, v.start)
	default:
		how = fmt.Sprintf("went on with revision %d", limit)
		if c.Time-e.seen >= v.options.Slow.Nanoseconds() {
			guarantee = "W10"
			how = fmt.Sprintf("read %s late, and went on with revision %d", length(c.Time-e.seen), limit)
		}
	}
	v.broke(guarantee, proof, "%s skipped %s%s: it %s at %s", v.name(), v.change(first), others, how, seconds(c.Time))
}

// late tells whether an entry that was skipped is delivered after all.
func (v *viewer) late(at int32) bool {
	if v.all == nil {
		v.all = make(map[uint64]bool)
		for i := range v.s.Changes {
			if c := &v.s.Changes[i]; c.Version != nil {
				v.all[c.Version.Revision] = true
			}
		}
	}
	return v.all[v.entries[at].revision]
}

// mark judges a bookmark (W7, W9).
func (v *viewer) mark(c *history.Arrival) {
	proof := evidence{c.Time, c.Time, []int64{c.Index, v.s.Index}, nil}
	switch {
	case c.Revision == 0:
		return
	case c.Revision < v.start && v.knownBefore(c.Time) < v.start:
		v.broke("W9", proof, "%s began after revision %d, which the store had not reached, and got a bookmark of %d", v.name(), v.start, c.Revision)
		return
	case c.Revision < v.last:
		v.broke("W7", proof, "%s got a bookmark of %d after it had come to %d", v.name(), c.Revision, v.last)
		return
	}
	v.gap(c.Revision+1, c, "W7")
	v.bookmark, v.last = c.Revision, c.Revision
}

// event judges a change that was delivered.
func (v *viewer) event(c *history.Arrival) {
	revision := c.Version.Revision
	if revision <= v.last {
		v.again(c)
		return
	}
	v.gap(revision, c, "W3")
	v.next(revision + 1) // this one
	v.last = revision
	v.delivered++
	at, ok := v.index.find(revision)
	if !ok {
		if key, known := v.keyIndex[c.Version.Key]; known && v.open(key, c.Time) {
			return // an acknowledged deletion whose revision nobody else told
		}
		v.broke("W4", v.proof(c), "%s got %s of %s at revision %d, which nobody else knows of", v.name(), c.Type, c.Version.Key, revision)
		return
	}
	e := &v.entries[at]
	if e.disputed {
		return // told by the merge of the evidence
	}
	if e.key != v.keyIndex[c.Version.Key] || !v.holds(v.scope, e.key) {
		v.broke("W4", v.proof(c), "%s of %q got %s of %s at revision %d, which is no change of what it watches", v.name(), v.s.Request.Key, c.Type, c.Version.Key, revision)
		return
	}
	v.typed(c, at)
}

// typed judges the type of an event against the state before it (W5).
func (v *viewer) typed(c *history.Arrival, at int32) {
	e := &v.entries[at]
	if v.open(e.key, e.seen) {
		return
	}
	before, now := v.matches(v.scope, e.prev), v.matches(v.scope, at)
	want := "MODIFIED"
	switch {
	case !before && !now:
		if e.prev == none {
			return // it was there before the history began
		}
		v.broke("W5", v.proof(c), "%s got %s of %s at revision %d, which is not in the group %q and was not before", v.name(), c.Type, c.Version.Key, c.Version.Revision, v.scope.group)
		return
	case !before:
		want = "ADDED"
	case !now:
		want = "DELETED"
	}
	if c.Type == want || e.prev == none && (v.foreign(v.keys[e.key]) || e.writer == none) {
		return
	}
	v.broke("W5", v.proof(c), "%s got %s of %s at revision %d, which is %s: before it the object was %s", v.name(), c.Type, c.Version.Key, c.Version.Revision, want, v.was(e.prev))
}

// proof is what shows that an event should not have come so.
func (v *viewer) proof(c *history.Arrival) evidence {
	return evidence{c.Time, c.Time, []int64{c.Index, v.s.Index}, []string{c.Version.Key}}
}

func (v *viewer) was(at int32) string {
	switch {
	case at == none:
		return "not there yet"
	case v.entries[at].gone:
		return "gone since revision " + decimal(v.entries[at].revision)
	}
	return "there at revision " + decimal(v.entries[at].revision)
}

// again judges an event that is not newer than what the stream had come to.
func (v *viewer) again(c *history.Arrival) {
	revision := c.Version.Revision
	proof := v.proof(c)
	what := fmt.Sprintf("%s got %s of %s at revision %d", v.name(), c.Type, c.Version.Key, revision)
	twice := slices.ContainsFunc(v.s.Changes, func(o history.Arrival) bool {
		return o.Index < c.Index && o.Version != nil && o.Version.Revision == revision
	})
	switch {
	case revision <= v.start && v.knownBefore(c.Time) < v.start:
		v.broke("W9", proof, "%s although it was asked for what comes after %d, which the store had not reached", what, v.start)
	case twice:
		v.broke("W2", proof, "%s twice", what)
	case revision <= v.start:
		v.broke("W2", proof, "%s, which is not after %s, %d", what, v.startOf, v.start)
	case revision <= v.bookmark:
		v.broke("W7", proof, "%s after a bookmark had said that all up to %d was delivered", what, v.bookmark)
	default:
		v.broke("W1", proof, "%s, which comes late: it had already come to revision %d", what, v.last)
	}
}
