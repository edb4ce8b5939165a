package check

import (
	"slices"
	"sort"
	"strings"

	"github.com/leasehold/leasehold/jepsen/history"
)

// none is the index of nothing.
const none = int32(-1)

// How an entry of the log came to be known.
const (
	byAck   uint8 = 1 << iota // its writer was told
	byRead                    // a get answered with it
	byList                    // a list held it
	byWatch                   // a watch delivered it
)

// entry is one accepted change of the store.
type entry struct {
	revision uint64
	version  *history.Version
	seen     int64 // when somebody first knew of it, by an answer or an event
	line     int64 // of the call or event that showed it first
	key      int32
	writer   int32 // the operation that made it, if that is known
	prev     int32 // the entries of the same object before and after
	next     int32
	flip     int32 // the next entry of the same object that is gone where this one is not, or the other way round
	gone     bool  // it removed the object
	by       uint8
	disputed bool // two observers saw something else in it
}

// log is every change that anybody knows of, by revision. It is all that checkers share.
type log struct {
	h       *history.History
	options Options

	entries []entry
	index   revisions

	keys     []string
	keyIndex map[string]int32
	opKey    []int32 // by operation, the key it names, or none
	opEntry  []int32 // by operation, what came of it, or none
	writers  ids
	elected  map[string]bool // keys of leases that electors hold

	byKey    [][]int32 // by key, its entries
	spaces   []string  // namespaces, each with its slash
	keySpace []int32   // by key, its namespace
	bySpace  [][]int32 // by namespace, its entries
	members  [][]int32 // by namespace, those of its keys that have entries, in their order
	// openSince is, by key, from when on a write is open of which nobody knows what became of it, or history.Never.
	openSince []int64

	sighted []int32  // entries by the time they were first seen
	known   []uint64 // the greatest revision among the first i+1 of them
	covered []span   // what watches of everything showed without a hole

	names     []string // of nodes, once asked for
	lastWrite int64    // when the last write was settled
	healed    int64    // when the last fault ended, history.Never if one did not
}

// span is the revisions after from, up to and with to.
type span struct{ from, to uint64 }

func (l *log) key(name string) int32 {
	if at, ok := l.keyIndex[name]; ok {
		return at
	}
	at := int32(len(l.keys))
	l.keys = append(l.keys, name)
	l.keyIndex[name] = at
	return at
}

// foreign tells whether others than the recorded operations write an object.
func (l *log) foreign(key string) bool { return l.elected[key] || hasAnyPrefix(key, l.options.Foreign) }

func (l *log) find(revision uint64) *entry {
	if at, ok := l.index.find(revision); ok {
		return &l.entries[at]
	}
	return nil
}

// at returns the entry that an object was at after a revision, or none if it had not been made.
func (l *log) at(key int32, revision uint64) int32 {
	if key >= int32(len(l.byKey)) {
		return none
	}
	entries := l.byKey[key]
	i := sort.Search(len(entries), func(i int) bool { return l.entries[entries[i]].revision > revision })
	if i == 0 {
		return none
	}
	return entries[i-1]
}

// present tells whether an object is there as of an entry.
func (l *log) present(at int32) bool { return at != none && !l.entries[at].gone }

// open tells whether a write of the key whose outcome nobody knows may have taken effect before a time.
func (l *log) open(key int32, before int64) bool {
	return key < int32(len(l.openSince)) && l.openSince[key] < before
}

// knownBefore is the greatest revision that anybody had seen before a time.
func (l *log) knownBefore(t int64) uint64 {
	i := sort.Search(len(l.sighted), func(i int) bool { return l.entries[l.sighted[i]].seen >= t })
	if i == 0 {
		return 0
	}
	return l.known[i-1]
}

// complete tells whether a watch of everything showed all that happened after from, up to and with to.
func (l *log) complete(from, to uint64) bool {
	for _, c := range l.covered {
		if c.from <= from && to <= c.to {
			return true
		}
	}
	return false
}

// quiet tells whether an operation was called when all writes were settled and all faults were over: what it does not show
// is lost and not merely late.
func (l *log) quiet(op *history.Operation) bool {
	return op.Invoked > l.lastWrite && op.Invoked > l.healed
}

// order sorts the entries by revision and links them by object, namespace and time.
func (l *log) order() {
	if !slices.IsSortedFunc(l.entries, byRevision) {
		slices.SortFunc(l.entries, byRevision)
	}
	l.index = revisions{table: l.index.table[:0]}
	for i := range l.opEntry {
		l.opEntry[i] = none
	}
	l.byKey = make([][]int32, len(l.keys))
	spaces := make(map[string]int32)
	l.keySpace = make([]int32, len(l.keys))
	for key, name := range l.keys {
		space := namespaceOf(name)
		at, ok := spaces[space]
		if !ok {
			at = int32(len(l.spaces))
			spaces[space] = at
			l.spaces = append(l.spaces, space)
		}
		l.keySpace[key] = at
	}
	l.bySpace = make([][]int32, len(l.spaces))
	perKey, perSpace := make([]int32, len(l.keys)), make([]int32, len(l.spaces))
	for i := range l.entries {
		perKey[l.entries[i].key]++
		perSpace[l.keySpace[l.entries[i].key]]++
	}
	cut(l.byKey, perKey)
	cut(l.bySpace, perSpace)
	for i := range l.entries {
		e, at := &l.entries[i], int32(i)
		l.index.put(e.revision, at, len(l.entries))
		if e.writer != none {
			l.opEntry[e.writer] = at
		}
		e.prev, e.next, e.flip = none, none, none
		if earlier := l.byKey[e.key]; len(earlier) > 0 {
			e.prev = earlier[len(earlier)-1]
			l.entries[e.prev].next = at
		}
		l.byKey[e.key] = append(l.byKey[e.key], at)
		l.bySpace[l.keySpace[e.key]] = append(l.bySpace[l.keySpace[e.key]], at)
	}
	l.members = make([][]int32, len(l.spaces))
	for key, space := range l.keySpace {
		if len(l.byKey[key]) > 0 {
			l.members[space] = append(l.members[space], int32(key))
		}
	}
	for _, members := range l.members {
		slices.SortFunc(members, func(a, b int32) int { return strings.Compare(l.keys[a], l.keys[b]) })
	}
	for i := len(l.entries) - 1; i >= 0; i-- {
		e := &l.entries[i]
		if e.next == none {
			continue
		}
		if next := &l.entries[e.next]; next.gone != e.gone {
			e.flip = e.next
		} else {
			e.flip = next.flip
		}
	}
}

// clock sorts the entries by the time they were first seen. It must be called when these times are final.
func (l *log) clock() {
	l.sighted = make([]int32, len(l.entries))
	for i := range l.sighted {
		l.sighted[i] = int32(i)
	}
	slices.SortFunc(l.sighted, func(a, b int32) int {
		switch x, y := l.entries[a].seen, l.entries[b].seen; {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	l.known = make([]uint64, len(l.sighted))
	greatest := uint64(0)
	for i, at := range l.sighted {
		greatest = max(greatest, l.entries[at].revision)
		l.known[i] = greatest
	}
}

func byRevision(a, b entry) int {
	switch {
	case a.revision < b.revision:
		return -1
	case a.revision > b.revision:
		return 1
	}
	return 0
}

// cut makes empty slices of the given capacities out of one array.
func cut(slices [][]int32, capacities []int32) {
	total := 0
	for _, c := range capacities {
		total += int(c)
	}
	array := make([]int32, total)
	for i, c := range capacities {
		slices[i] = array[:0:c]
		array = array[c:]
	}
}

// namespaceOf is the namespace of a key with its slash.
func namespaceOf(key string) string {
	if i := strings.IndexByte(key, '/'); i >= 0 {
		return key[:i+1]
	}
	return ""
}

// scope is what a list or watch is of.
type scope struct {
	key   int32 // one object, or none
	space int32 // one namespace, or none
	empty bool  // a namespace or object of which nothing is known
	group string
}

func (l *log) scope(request *history.Request) scope {
	s := scope{key: none, space: none, group: request.Group}
	switch {
	case request.Key == "":
	case strings.HasSuffix(request.Key, "/"):
		at := slices.Index(l.spaces, request.Key)
		s.space, s.empty = int32(at), at < 0
	default:
		at, ok := l.keyIndex[request.Key]
		s.key, s.empty = at, !ok
		if !ok {
			s.key = none
		}
	}
	return s
}

// holds tells whether an object is within a scope, whatever its group.
func (l *log) holds(s scope, key int32) bool {
	switch {
	case s.empty:
		return false
	case s.key != none:
		return s.key == key
	case s.space != none:
		return l.keySpace[key] == s.space
	}
	return true
}

// matches tells whether a list of a scope holds an object that is at an entry.
func (l *log) matches(s scope, at int32) bool {
	return l.present(at) && (s.group == "" || l.entries[at].version.Group == s.group)
}

// within are the entries of a scope with revisions after from, up to and with to: positions in the slice that is returned
// first, which is nil for all entries of the log.
func (l *log) within(s scope, from, to uint64) (entries []int32, first, end int) {
	switch {
	case s.empty:
		return []int32{}, 0, 0
	case s.key != none:
		entries = l.byKey[s.key]
	case s.space != none:
		entries = l.bySpace[s.space]
	default:
		after := func(r uint64) int {
			return sort.Search(len(l.entries), func(i int) bool { return l.entries[i].revision > r })
		}
		return nil, after(from), after(to)
	}
	after := func(r uint64) int {
		return sort.Search(len(entries), func(i int) bool { return l.entries[entries[i]].revision > r })
	}
	return entries, after(from), after(to)
}

// writes tells whether an operation is one that changes something.
func writes(f string) bool {
	switch f {
	case history.Create, history.Update, history.Put, history.Patch, history.Delete:
		return true
	}
	return false
}

func countWrites(h *history.History) int {
	n := 0
	for i := range h.Operations {
		if writes(h.Operations[i].F) {
			n++
		}
	}
	return n
}
