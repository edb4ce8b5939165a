package check

import (
	"slices"
	"sort"
	"strconv"

	"github.com/leasehold/leasehold/jepsen/history"
)

// deletions finds out who removed each object that went. An object that goes carries the ID of the write before, so the
// uid tells: each is removed once. Where no answer tells the uid, a deletion is somebody's if nobody else can have done it.
func (m *merger) deletions() {
	gone := make(map[string]int32, len(m.gone)) // by uid
	perKey := make(map[int32][]int32)           // those that are nobody's yet
	for _, at := range m.gone {
		if uid := m.entries[at].version.UID; uid != "" {
			if other, twice := gone[uid]; twice {
				e, first := &m.entries[at], &m.entries[other]
				m.broke("A1", evidence{first.seen, e.seen, []int64{e.line, first.line}, []string{m.keys[e.key]}},
					"the object with uid %s was deleted twice, in revisions %d and %d", uid, first.revision, e.revision)
				continue
			}
			gone[uid] = at
		}
	}
	for i := range m.h.Operations {
		op := &m.h.Operations[i]
		if op.F != history.Delete || op.Outcome != history.OK || m.opEntry[i] != none || op.Answer == nil || op.Answer.Version == nil {
			continue
		}
		at, ok := gone[op.Answer.Version.UID]
		if !ok {
			continue
		}
		e := &m.entries[at]
		if e.writer != none {
			other := &m.h.Operations[e.writer]
			m.broke("A1", evidence{other.Invoked, op.Returned, []int64{op.Index, other.Index}, []string{op.Request.Key}},
				"two deletes of the object with uid %s were acked: %s and %s", op.Answer.Version.UID, call(op), call(other))
			continue
		}
		m.claim(int32(i), at)
	}
	for _, at := range m.gone {
		if e := &m.entries[at]; e.writer == none && !m.foreign(m.keys[e.key]) && (e.version.ID != "" || m.written[m.keys[e.key]]) {
			perKey[e.key] = append(perKey[e.key], at)
		}
	}
	if len(perKey) > 0 {
		m.suspects(perKey)
	}
}

// claim notes that an operation made an entry.
func (m *merger) claim(op, at int32) {
	e := &m.entries[at]
	e.writer, m.opEntry[op] = op, at
	if o := &m.h.Operations[op]; o.Outcome == history.OK {
		e.by |= byAck
		if o.Returned < e.seen {
			e.seen, e.line = o.Returned, o.Index
		}
	}
}

// suspects looks for whoever may have made the deletions that nobody was told of.
func (m *merger) suspects(perKey map[int32][]int32) {
	deletes := make(map[int32][]int32)
	for i := range m.h.Operations {
		if key := m.opKey[i]; key != none && m.h.Operations[i].F == history.Delete && m.opEntry[i] == none {
			if _, ok := perKey[key]; ok {
				deletes[key] = append(deletes[key], int32(i))
			}
		}
	}
	for key, entries := range perKey {
		slices.SortFunc(entries, func(a, b int32) int { return byRevision(m.entries[a], m.entries[b]) })
		for _, at := range entries {
			e := &m.entries[at]
			var possible []int32
			failed := none
			for _, i := range deletes[key] {
				op := &m.h.Operations[i]
				if op.Invoked >= e.seen || m.opEntry[i] != none || op.Request.UID != "" && e.version.UID != "" && op.Request.UID != e.version.UID {
					continue
				}
				if op.Outcome == history.Fail {
					failed = i
				} else {
					possible = append(possible, i)
				}
			}
			proof := evidence{e.seen, e.seen, []int64{e.line}, []string{m.keys[key]}}
			switch {
			case len(possible) == 1:
				m.claim(possible[0], at)
			case len(possible) > 1:
			case failed != none:
				op := &m.h.Operations[failed]
				proof.lines, proof.from = append(proof.lines, op.Index), op.Invoked
				m.broke("A2", proof, "%s was %s, which says that it never took effect, and %s was deleted in revision %d", call(op), answer(op), m.keys[key], e.revision)
			default:
				m.broke("W4", proof, "revision %d deleted %s, which no operation of this history asked for", e.revision, m.keys[key])
			}
		}
	}
}

// cover notes which revisions watches of everything showed without a hole, from where they began to the last that they acknowledged.
func (l *log) cover() {
	for i := range l.h.Streams {
		s := &l.h.Streams[i]
		if s.Outcome != history.OK || s.Request.Group != "" || !l.coversAll(s.Request.Key) {
			continue
		}
		from, ok := beginning(s)
		if to := acknowledged(s); ok && to > from && l.whole(s, from, to) {
			l.covered = append(l.covered, span{from, to})
		}
	}
	slices.SortFunc(l.covered, func(a, b span) int {
		if a.from < b.from || a.from == b.from && a.to > b.to {
			return -1
		}
		return 1
	})
	var joined []span
	for _, c := range l.covered {
		if n := len(joined); n > 0 && c.from <= joined[n-1].to {
			joined[n-1].to = max(joined[n-1].to, c.to)
			continue
		}
		joined = append(joined, c)
	}
	l.covered = joined
}

// whole tells whether a stream of everything delivered all that is known to have happened in a time. If not, its checker will
// tell so, and it is no evidence of what did not happen.
func (l *log) whole(s *history.Stream, from, to uint64) bool {
	delivered, last := 0, from
	for i := range s.Changes {
		if v := s.Changes[i].Version; v != nil && v.Revision > last && l.options.own(v.Key) {
			delivered++
			last = v.Revision
		}
	}
	_, first, end := l.within(scope{key: none, space: none}, from, to)
	return delivered == end-first
}

// coversAll tells whether a watch of a key sees all that the harness writes.
func (l *log) coversAll(key string) bool {
	if key == "" {
		return true
	}
	for _, space := range l.spaces {
		if space != key && l.options.own(space) {
			return false
		}
	}
	return true
}

// beginning is the revision after which a stream shows everything, if it can be told.
func beginning(s *history.Stream) (uint64, bool) {
	if s.Request.Initial {
		for i := range s.Changes {
			if s.Changes[i].InitialEnd {
				return s.Changes[i].Revision, true
			}
		}
		return 0, false
	}
	from, err := strconv.ParseUint(s.Request.Revision, 10, 64)
	return from, err == nil && from > 0
}

// acknowledged is the last revision that a stream says it has shown everything up to.
func acknowledged(s *history.Stream) uint64 {
	greatest := uint64(0)
	for i := range s.Changes {
		c := &s.Changes[i]
		if c.Version != nil {
			greatest = max(greatest, c.Version.Revision)
		} else if c.Type == "BOOKMARK" {
			greatest = max(greatest, c.Revision)
		}
	}
	return greatest
}

// unknowns finds the writes of which nobody knows what became of them. One that nobody saw did not take effect if watches
// showed everything up to a revision that the store was at when it could no longer do so. Else it stays open.
func (m *merger) unknowns() {
	m.openSince = make([]int64, len(m.keys))
	for i := range m.openSince {
		m.openSince[i] = history.Never
	}
	at, final := m.final()
	since := int64(history.Never) // when the store had surely come to where the watches that reached final began
	for _, c := range m.covered {
		if c.from <= final && final <= c.to {
			since = m.reached(c.from)
		}
	}
	resolved, open := 0, 0
	for i := range m.h.Operations {
		op := &m.h.Operations[i]
		if !writes(op.F) || m.opEntry[i] != none || !m.options.own(op.Request.Key) || op.Request.Same && (op.Outcome == history.OK || op.F == history.Patch || op.Request.UID != "") {
			continue
		}
		if op.Outcome != history.Info && !(op.Outcome == history.OK && op.F == history.Delete) {
			continue
		}
		if op.Outcome == history.Info && max(op.Settled, m.healed) != history.Never && max(op.Settled, m.healed)+m.options.Settle.Nanoseconds() <= at && since < op.Invoked {
			resolved++
			continue
		}
		if op.Outcome == history.OK && op.Answer != nil && op.Answer.Version != nil && op.Answer.Version.UID != "" && op.Returned < at && since < op.Invoked {
			m.broke("D1", evidence{op.Invoked, op.Returned, []int64{op.Index}, []string{op.Request.Key}},
				"lost: %s was %s, but no watch saw the object with uid %s go, although watches of everything came to revision %d", call(op), answer(op), op.Answer.Version.UID, final)
			continue
		}
		open++
		if key := m.opKey[i]; key != none {
			m.openSince[key] = min(m.openSince[key], op.Invoked)
		}
	}
	m.result.Note = strconv.Itoa(resolved) + " writes without an answer did not take effect, of " + strconv.Itoa(open) + " it stays open"
}

// final is the latest time at which the store is known to have been at no more than a revision that watches reached.
func (m *merger) final() (at int64, revision uint64) {
	if len(m.covered) == 0 {
		return 0, 0
	}
	reached := m.covered[len(m.covered)-1].to
	for i := len(m.h.Operations) - 1; i >= 0; i-- {
		op := &m.h.Operations[i]
		if op.Outcome != history.OK || op.Answer == nil {
			continue
		}
		revision := op.Answer.Revision
		if e := m.opEntry[i]; e != none {
			revision = m.entries[e].revision
		} else if op.F != history.List || op.Request.Revision != "" || op.Request.Page > 0 {
			continue
		}
		if revision > 0 && revision <= reached {
			return op.Invoked, revision
		}
	}
	return 0, 0
}

// reached is the earliest time at which somebody knew that the store had come to a revision.
func (l *log) reached(revision uint64) int64 {
	at := int64(history.Never)
	if i := sort.Search(len(l.known), func(i int) bool { return l.known[i] >= revision }); i < len(l.known) {
		at = l.entries[l.sighted[i]].seen
	}
	for i := range l.h.Operations {
		if op := &l.h.Operations[i]; op.F == history.List && op.Outcome == history.OK && op.Answer != nil && op.Answer.Revision >= revision {
			at = min(at, op.Returned)
		}
	}
	return at
}
