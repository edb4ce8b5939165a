package check

import (
	"strconv"

	"github.com/leasehold/leasehold/jepsen/history"
)

// writesChecker judges each accepted write against the version before it: whether it was right to accept it (O1 to O4), and
// who the object is (O6).
type writesChecker struct {
	*reporter
	uids map[string]int32 // creations
}

func judgeWrites(l *log) Result {
	w := &writesChecker{reporter: l.reporter("writes", "O1", "O2", "O3", "O4", "O6"), uids: make(map[string]int32)}
	for i := range l.entries {
		e := &l.entries[i]
		if e.disputed || !l.options.own(l.keys[e.key]) {
			continue
		}
		w.result.Checked++
		sure := !l.open(e.key, e.seen)
		if e.writer != none {
			w.accepted(e, &l.h.Operations[e.writer], sure)
		}
		w.identity(int32(i), e, sure)
	}
	w.unchanged()
	return w.done()
}

// accepted judges the preconditions of a write that took effect. sure says that no deletion or creation of the object can
// be missing from the log.
func (w *writesChecker) accepted(e *entry, op *history.Operation, sure bool) {
	there := w.present(e.prev)
	var before *entry
	if e.prev != none {
		before = &w.entries[e.prev]
	}
	demanded, _ := strconv.ParseUint(op.Request.Revision, 10, 64)
	// A version that is not the one demanded: certainly so if it is newer, since a newer one cannot turn older again.
	wrong := demanded > 0 && there && before.revision != demanded && (sure || before.revision > demanded)
	wrongUID := there && op.Request.UID != "" && before.version.UID != "" && op.Request.UID != before.version.UID
	proof := func() evidence { return w.evidenceOf(e, op, before) } // only where it is needed: there are many writes
	switch op.F {
	case history.Create:
		if there && sure {
			w.broke("O1", proof(), "%s made revision %d although the object was there at %s", call(op), e.revision, w.change(e.prev))
		}
	case history.Update:
		if wrong || wrongUID {
			w.broke("O2", proof(), "%s demanded revision %s and replaced %s with revision %d", call(op), op.Request.Revision, w.change(e.prev), e.revision)
		}
	case history.Put:
		if there && sure {
			w.broke("O2", proof(), "%s, which demanded no revision and so can only create, replaced %s with revision %d", call(op), w.change(e.prev), e.revision)
		}
	case history.Patch:
		switch {
		case wrong || wrongUID:
			w.broke("O3", proof(), "%s demanded revision %q and uid %q and changed %s to revision %d", call(op), op.Request.Revision, op.Request.UID, w.change(e.prev), e.revision)
		case before != nil && before.gone && sure:
			w.broke("O3", proof(), "%s made revision %d although the object was gone since revision %d", call(op), e.revision, before.revision)
		}
	case history.Delete:
		switch {
		case wrong || wrongUID:
			w.broke("O4", proof(), "%s demanded revision %q and uid %q and removed %s", call(op), op.Request.Revision, op.Request.UID, w.change(e.prev))
		case before != nil && before.gone && sure:
			w.broke("O4", proof(), "%s removed the object in revision %d although it was gone since revision %d", call(op), e.revision, before.revision)
		}
	}
}

// evidenceOf is what shows that a write should not have been accepted over the version before.
func (w *writesChecker) evidenceOf(e *entry, op *history.Operation, before *entry) evidence {
	proof := evidence{op.Invoked, op.Settled, []int64{op.Index}, []string{w.keys[e.key]}}
	if op.Settled == history.Never {
		proof.to = e.seen
	}
	if before != nil {
		proof.lines = append(proof.lines, before.line)
	}
	return proof
}

// identity judges that an object is one from its creation to its deletion and never again (O6).
func (w *writesChecker) identity(at int32, e *entry, sure bool) {
	proof := func() evidence {
		lines := []int64{e.line}
		if e.prev != none {
			lines = append(lines, w.entries[e.prev].line)
		}
		return evidence{e.seen, e.seen, lines, []string{w.keys[e.key]}}
	}
	if w.present(e.prev) {
		before := &w.entries[e.prev]
		creates := e.writer != none && w.h.Operations[e.writer].F == history.Create
		switch {
		case creates || !sure || before.disputed:
		case e.version.UID != before.version.UID && e.version.UID != "" && before.version.UID != "":
			w.broke("O6", proof(), "%s changed its uid from %s to %s with %s, without having been deleted", w.keys[e.key], before.version.UID, e.version.UID, w.change(at))
		case e.version.Created != before.version.Created && e.version.Created != 0 && before.version.Created != 0:
			w.broke("O6", proof(), "%s changed its creationTimestamp from %d to %d with %s", w.keys[e.key], before.version.Created, e.version.Created, w.change(at))
		}
		return
	}
	uid := e.version.UID
	if e.gone || uid == "" {
		return
	}
	if other, known := w.uids[uid]; known {
		first := &w.entries[other]
		if first.key != e.key || e.prev != none {
			shown := proof()
			shown.lines = append(shown.lines, first.line)
			w.broke("O6", shown, "%s was made with the uid %s in revision %d, which %s had had since revision %d", w.keys[e.key], uid, e.revision, w.keys[first.key], first.revision)
		}
		return
	}
	w.uids[uid] = at
}

// unchanged judges that writes which change nothing were told the version they met (V5). That no change came of them is
// judged where the log is put together.
func (w *writesChecker) unchanged() {
	for i := range w.h.Operations {
		op := &w.h.Operations[i]
		if !op.Request.Same || op.Outcome != history.OK || op.Answer == nil || op.Answer.Version == nil {
			continue
		}
		if demanded, err := strconv.ParseUint(op.Request.Revision, 10, 64); err == nil && demanded > 0 && op.Answer.Version.Revision != demanded {
			w.broke("V5", evidence{op.Invoked, op.Returned, []int64{op.Index}, []string{op.Request.Key}},
				"%s sent what revision %d holds and was answered with revision %d", call(op), demanded, op.Answer.Version.Revision)
		}
	}
}
