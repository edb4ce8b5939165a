package check

import (
	"container/heap"
	"fmt"
	"slices"
	"strconv"

	"github.com/leasehold/leasehold/jepsen/history"
)

// A linearization puts each operation at one place of the log. The write of revision r is at place 2r; who reads the state
// after it and before the next change of what it looks at is at a place from 2r+1 to just before that change. Places must
// keep to real time: who was called after another returned is not at a lesser place.
//
// Since the order of writes is known, the least possible place of an operation is the least one that its answer allows and
// that is not less than any known when it was called. So one pass in the order of calls decides: no search.

// mark says that since a time the store is known to be at a place.
type mark struct {
	time   int64
	place  uint64
	source int32 // an operation, or ^ the index of a bookmark's stream
	line   int64
}

type marks []mark

func (m marks) Len() int           { return len(m) }
func (m marks) Less(i, j int) bool { return m[i].time < m[j].time }
func (m marks) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }
func (m *marks) Push(x any)        { *m = append(*m, x.(mark)) }
func (m *marks) Pop() any {
	last := len(*m) - 1
	x := (*m)[last]
	*m = (*m)[:last]
	return x
}

// zones judges O5, O7, V3, the freshness of L1, W7 and W11, and with them D3.
type zones struct {
	*reporter
	bookmarks []mark // by time
	nextMark  int
	nextSight int
	pending   marks   // places of answers that no entry of the log stands for
	cursor    []int32 // by key, the entry that it is at as of floor, or none

	floor uint64 // no operation called now is at a lesser place
	// Why: an entry of the log, or if that is none a mark.
	entry int32
	mark  mark
}

func judgeZones(l *log) Result {
	z := &zones{reporter: l.reporter("register", "V3", "V4", "O5", "O7", "D2", "D3"), entry: none, cursor: make([]int32, len(l.keys))}
	for i := range z.cursor {
		z.cursor[i] = none
	}
	for i := range l.h.Streams {
		s := &l.h.Streams[i]
		for j := range s.Changes {
			if c := &s.Changes[j]; c.Type == "BOOKMARK" && c.Revision > 0 {
				z.bookmarks = append(z.bookmarks, mark{c.Time, 2*c.Revision + 1, ^int32(i), c.Index})
			}
		}
	}
	slices.SortStableFunc(z.bookmarks, func(a, b mark) int {
		switch {
		case a.time < b.time:
			return -1
		case a.time > b.time:
			return 1
		}
		return 0
	})
	for i := range l.h.Operations {
		op := &l.h.Operations[i]
		z.advance(op.Invoked)
		z.judge(int32(i), op)
	}
	return z.done()
}

// advance raises the floor to what was known before a time.
func (z *zones) advance(t int64) {
	for z.nextSight < len(z.sighted) {
		at := z.sighted[z.nextSight]
		e := &z.entries[at]
		if e.seen >= t {
			break
		}
		if place := 2*e.revision + 1; place > z.floor {
			z.floor, z.entry = place, at
		}
		z.nextSight++
	}
	for z.nextMark < len(z.bookmarks) && z.bookmarks[z.nextMark].time < t {
		z.raise(z.bookmarks[z.nextMark])
		z.nextMark++
	}
	for len(z.pending) > 0 && z.pending[0].time < t {
		z.raise(heap.Pop(&z.pending).(mark))
	}
}

func (z *zones) raise(m mark) {
	if m.place > z.floor {
		z.floor, z.entry, z.mark = m.place, none, m
	}
}

// state is the entry that a key is at as of the floor.
func (z *zones) state(key int32) int32 {
	at := z.cursor[key]
	if at == none {
		if len(z.byKey[key]) == 0 || 2*z.entries[z.byKey[key][0]].revision > z.floor {
			return none
		}
		at = z.byKey[key][0]
	}
	for next := z.entries[at].next; next != none && 2*z.entries[next].revision <= z.floor; next = z.entries[at].next {
		at = next
	}
	z.cursor[key] = at
	return at
}

func (z *zones) judge(i int32, op *history.Operation) {
	if at := z.opEntry[i]; at != none {
		z.result.Checked++
		z.write(op, at)
		return
	}
	if op.Answer == nil || op.Outcome == history.Info {
		return
	}
	switch {
	case op.F == history.List:
		z.list(i, op)
	case z.opKey[i] == none:
	case op.Outcome == history.OK && (op.F == history.Get || op.Request.Same && op.F != history.Delete):
		z.get(i, op)
	case op.Outcome == history.Fail:
		z.refusal(i, op)
	}
}

// write judges that the place of a write is not less than what was known when it was called.
func (z *zones) write(op *history.Operation, at int32) {
	e := &z.entries[at]
	place := 2 * e.revision
	if z.floor <= place {
		return
	}
	proof := evidence{op.Invoked, op.Settled, []int64{op.Index}, []string{z.keys[e.key]}}
	if op.Settled == history.Never {
		proof.to = e.seen
	}
	if z.entry == at {
		guarantee := "O5"
		switch {
		case e.by&byWatch != 0 && e.by&(byRead|byList) == 0:
			guarantee = "W4"
		case e.by&byList != 0 && e.by&byRead == 0:
			guarantee = "L1"
		}
		proof.lines = append(proof.lines, e.line)
		z.broke(guarantee, proof, "revision %d of %s was seen at %s, before %s was called at %s", e.revision, z.keys[e.key], seconds(e.seen), call(op), seconds(op.Invoked))
		return
	}
	guarantee, known := z.why(&proof)
	switch {
	case z.entry != none:
		guarantee = "V3"
	case guarantee == "":
		guarantee = "O7"
	}
	z.broke(guarantee, proof, "%s made revision %d although it was called at %s, when %s", call(op), e.revision, seconds(op.Invoked), known)
}

// why tells what the floor rests on, and whose guarantee it is if that itself was wrong.
func (z *zones) why(proof *evidence) (guarantee, known string) {
	if z.entry != none {
		proof.lines = append(proof.lines, z.entries[z.entry].line)
		return "", z.change(z.entry) + " was known"
	}
	proof.lines = append(proof.lines, z.mark.line)
	if z.mark.source < 0 {
		s := &z.h.Streams[^z.mark.source]
		return "W7", fmt.Sprintf("a bookmark of the watch of process %s at %s had already said %d", s.Process, s.Node, z.mark.place/2)
	}
	op := &z.h.Operations[z.mark.source]
	known = fmt.Sprintf("%s, answered at %s, had already shown revision %d", call(op), seconds(op.Returned), z.mark.place/2)
	if op.F == history.List {
		return listGuarantee(op), known
	}
	return "", known
}

// get judges a default read of one object, of which the answer has a version, and a write that changed nothing, which is one.
func (z *zones) get(i int32, op *history.Operation) {
	v := op.Answer.Version
	if v == nil || v.Revision == 0 {
		return
	}
	e := z.find(v.Revision)
	if e == nil || e.key != z.opKey[i] || e.gone {
		return
	}
	if op.F == history.Get && op.Request.Revision != "" {
		z.bounded(op, e)
		return
	}
	z.result.Checked++
	if e.next == none || z.floor < 2*z.entries[e.next].revision {
		return
	}
	z.stale(op, e.next, fmt.Sprintf("%s returned revision %d at %s", call(op), v.Revision, seconds(op.Returned)), "O5")
}

// bounded judges a read that asked for a state not older than a revision.
func (z *zones) bounded(op *history.Operation, e *entry) {
	bound, err := strconv.ParseUint(op.Request.Revision, 10, 64)
	if err != nil || bound == 0 {
		return
	}
	z.result.Checked++
	if e.next != none && z.entries[e.next].revision <= bound {
		z.broke("O5", evidence{op.Invoked, op.Returned, []int64{op.Index}, []string{op.Request.Key}},
			"%s asked for a state not older than %d and got revision %d, which %s had replaced", call(op), bound, e.revision, z.change(e.next))
	}
}

// stale tells that an answer shows a state from before an entry, although that one was known when the question was put.
func (z *zones) stale(op *history.Operation, missed int32, what, guarantee string) {
	proof := evidence{op.Invoked, op.Returned, []int64{op.Index}, nil}
	if op.Request.Key != "" {
		proof.keys = []string{op.Request.Key}
	}
	_, known := z.why(&proof)
	proof.lines = append(proof.lines, z.entries[missed].line)
	if z.quiet(op) && z.lost(missed) {
		guarantee = z.loss(missed)
		what = "lost: " + what
	}
	if z.entry == missed {
		z.broke(guarantee, proof, "%s; %s", what, known)
		return
	}
	z.broke(guarantee, proof, "%s, from before %s; when it was called at %s, %s", what, z.change(missed), seconds(op.Invoked), known)
}

// list judges how fresh a list is, and notes what it shows for those that are called later.
func (z *zones) list(i int32, op *history.Operation) {
	if op.Outcome != history.OK || op.Answer.Revision == 0 {
		return
	}
	place := 2*op.Answer.Revision + 1
	heap.Push(&z.pending, mark{op.Returned, place, i, op.Index})
	if op.Request.Revision != "" || op.Request.Page > 0 {
		return
	}
	z.result.Checked++
	if z.floor <= place {
		return
	}
	what := fmt.Sprintf("%s returned the state of revision %d at %s", call(op), op.Answer.Revision, seconds(op.Returned))
	if z.entry != none {
		z.stale(op, z.entry, what, "L1")
		return
	}
	proof := evidence{op.Invoked, op.Returned, []int64{op.Index}, nil}
	_, known := z.why(&proof)
	z.broke("L1", proof, "%s; when it was called at %s, %s", what, seconds(op.Invoked), known)
}

// What a refusal says of the object.
const (
	nothing = iota
	absent
	present
	differs // it is there, in another version than the one demanded
	other   // it is not there in the version demanded
)

// claim is what a refused operation says of the object.
func claim(op *history.Operation) int {
	precondition := op.Request.Revision != "" && op.Request.Revision != "0"
	switch op.Answer.Code {
	case 404:
		if op.Answer.Reason != "NotFound" || op.F == history.Get && op.Request.Revision != "" {
			return nothing
		}
		return absent
	case 409:
		switch {
		case op.Answer.Reason == "AlreadyExists" && op.F == history.Create && !op.Request.Generate:
			return present
		case op.Answer.Reason == "Conflict" && precondition && op.F != history.Create:
			if op.Request.UID != "" && op.F != history.Delete {
				return other // a write that names a uid creates nothing
			}
			return differs
		}
	case 422:
		if op.F == history.Put {
			return present
		}
	}
	return nothing
}

// refusal judges what a 404, 409 or 422 says of the state.
func (z *zones) refusal(i int32, op *history.Operation) {
	says := claim(op)
	key := z.opKey[i]
	if says == nothing || z.open(key, op.Returned) || !z.options.own(z.keys[key]) {
		return
	}
	z.result.Checked++
	at := z.state(key)
	first := at
	demanded := uint64(0)
	if says == differs || says == other {
		demanded, _ = strconv.ParseUint(op.Request.Revision, 10, 64)
	}
	if at == none && (says == present || says == differs) && len(z.byKey[key]) > 0 {
		at = z.byKey[key][0] // the first that makes it present
		if z.entries[at].gone {
			return // it was there before the history began
		}
		if says == differs && z.entries[at].revision == demanded {
			at = z.entries[at].next
		}
		z.put(i, op, at, first, says)
		return
	}
	there := z.present(at)
	switch {
	case says == absent && there, says == present && !there:
		if at != none {
			at = z.entries[at].flip
		}
	case says == other && there && z.entries[at].revision == demanded:
		at = z.entries[at].next
	case says == differs && (!there || z.entries[at].revision == demanded):
		for at != none && (z.entries[at].gone || z.entries[at].revision == demanded) {
			at = z.entries[at].next
		}
	default:
		return // true as of the floor
	}
	z.put(i, op, at, first, says)
}

// put places a refusal just after an entry, the first since the floor that makes it true. If there is none it is untrue.
func (z *zones) put(i int32, op *history.Operation, at, first int32, says int) {
	if at != none && z.begun(at) <= op.Returned {
		heap.Push(&z.pending, mark{op.Returned, 2*z.entries[at].revision + 1, i, op.Index})
		return
	}
	proof := evidence{op.Invoked, op.Returned, []int64{op.Index}, []string{op.Request.Key}}
	state := "it had never been made"
	if first != none {
		proof.lines = append(proof.lines, z.entries[first].line)
		state = "it was at " + z.change(first)
	}
	guarantee := "O7"
	if says == absent && z.quiet(op) && z.lost(first) {
		guarantee = z.loss(first)
	}
	z.broke(guarantee, proof, "%s was %s; but when it was called at %s %s, and nothing changed that before the answer", call(op), answer(op), seconds(op.Invoked), state)
}

// begun is when the operation that made an entry was called, or the beginning of time if nobody knows whose it is.
func (z *zones) begun(at int32) int64 {
	if w := z.entries[at].writer; w != none {
		return z.h.Operations[w].Invoked
	}
	return 0
}
