package check

import (
	"strings"

	"github.com/leasehold/leasehold/jepsen/history"
)

// sight is one observer's account of a revision.
type sight struct {
	time    int64
	line    int64
	by      uint8
	op      int32 // the operation that answered so, or none
	stream  *history.Stream
	version *history.Version
	gone    bool
}

func (s *sight) who(l *log) string {
	if s.stream != nil {
		return "the watch of process " + s.stream.Process + " at " + s.stream.Node
	}
	return call(&l.h.Operations[s.op])
}

// merge puts the log together from everything that anybody saw: first what writers were told, then gets and lists, then
// watches. It judges V1, V2, A1, A2, A3 and V5, and that nothing was seen that nobody wrote.
func merge(h *history.History, options Options) (*log, Result) {
	l := &log{h: h, options: options, keyIndex: make(map[string]int32), opKey: make([]int32, len(h.Operations)),
		opEntry: make([]int32, len(h.Operations)), elected: make(map[string]bool), writers: idsFor(h.Operations, countWrites(h))}
	r := l.reporter("versions", "V1", "V2", "V5", "A1", "A2", "A3", "A4")
	m := &merger{reporter: r, same: make(map[string]bool)}
	for i := range h.Tenures {
		if h.Tenures[i].Tenure != nil {
			l.elected[h.Tenures[i].Tenure.Key] = true
		}
	}
	for i := range h.Windows {
		if h.Windows[i].Error == "" {
			l.healed = max(l.healed, h.Windows[i].Stop)
		}
	}
	m.register()
	m.entries = make([]entry, 0, m.acked+m.acked/16+16)
	m.index.table = make([]int32, 0, cap(m.entries)+8192)
	m.acks()
	m.reads()
	m.watches(false)
	m.watches(true)
	m.deletions()
	l.order()
	l.cover()
	l.clock()
	m.unknowns()
	r.result.Checked = len(l.entries)
	return l, r.done()
}

type merger struct {
	*reporter
	same  map[string]bool // IDs that a write which changes nothing sent again
	gone  []int32         // entries, before they are ordered, of objects that went
	acked int             // writes
	told  map[int32]bool  // operations already found to have happened twice
	// written are the keys that some operation writes. Others are somebody else's, if their versions carry no ID.
	written map[string]bool
}

// register learns the names: which operation an ID is of, which object an operation is about.
func (m *merger) register() {
	m.told, m.written = make(map[int32]bool), make(map[string]bool)
	for i := range m.h.Operations {
		op := &m.h.Operations[i]
		m.opEntry[i], m.opKey[i] = none, none
		if key := op.Request.Key; key != "" && !strings.HasSuffix(key, "/") {
			m.opKey[i] = m.key(key)
		}
		if op.Answer != nil && op.Answer.Malformed != "" {
			m.broke("V1", evidence{op.Invoked, op.Returned, []int64{op.Index}, nil}, "%s got an answer that is not of the promised form: %s", call(op), op.Answer.Malformed)
		}
		if !writes(op.F) {
			continue
		}
		if key := m.opKey[i]; key != none && !m.written[op.Request.Key] {
			m.written[op.Request.Key] = true
		}
		if op.Outcome == history.OK {
			m.acked++
		}
		if op.Settled != history.Never {
			m.lastWrite = max(m.lastWrite, op.Settled)
		}
		if id := op.Request.ID; id != "" {
			if op.Request.Same {
				m.same[id] = true
			} else if op.F != history.Delete {
				m.writers.put(id, int32(i))
			}
		}
		if op.Outcome == history.Info && op.Answer != nil && op.Answer.RetryAfter && op.Answer.Code >= 500 {
			m.broke("A3", evidence{op.Invoked, op.Settled, []int64{op.Index}, []string{op.Request.Key}},
				"%s was answered %d %s with Retry-After although it may have taken effect: clients will do it twice", call(op), op.Answer.Code, op.Answer.Reason)
		}
	}
	for i := range m.h.Streams {
		s := &m.h.Streams[i]
		for _, c := range s.Changes {
			if c.Malformed != "" {
				m.broke("V1", evidence{c.Time, c.Time, []int64{c.Index}, nil}, "the watch of process %s at %s got an event that is not of the promised form: %s", s.Process, s.Node, c.Malformed)
			}
		}
	}
}

func (m *merger) acks() {
	for i := range m.h.Operations {
		op := &m.h.Operations[i]
		if op.Outcome != history.OK || !writes(op.F) || op.Request.Same || op.Answer == nil || op.Answer.Version == nil || op.Answer.Version.Revision == 0 {
			continue
		}
		v := op.Answer.Version
		// A delete of an object with finalizers only marks it.
		gone := op.F == history.Delete && len(v.Elements) == 0
		at := m.see(sight{time: op.Returned, line: op.Index, by: byAck, op: int32(i), version: v, gone: gone})
		if at == none {
			continue
		}
		if op.F == history.Delete {
			m.entries[at].writer = int32(i)
			m.opEntry[i] = at
		} else if m.entries[at].writer != int32(i) && !m.entries[at].disputed {
			m.entries[at].disputed = true
			m.broke("V2", evidence{op.Invoked, op.Returned, []int64{op.Index, m.entries[at].line}, []string{v.Key}},
				"%s was acked with %s, which is not its own", call(op), m.plain(at))
		}
	}
}

func (m *merger) reads() {
	for i := range m.h.Operations {
		op := &m.h.Operations[i]
		if op.Outcome != history.OK || op.Answer == nil {
			continue
		}
		switch {
		case (op.F == history.Get || writes(op.F) && op.Request.Same) && op.Answer.Version != nil && op.Answer.Version.Revision > 0:
			m.see(sight{time: op.Returned, line: op.Index, by: byRead, op: int32(i), version: op.Answer.Version})
		case op.F == history.List:
			for j := range op.Answer.Items {
				m.see(sight{time: op.Returned, line: op.Index, by: byList, op: int32(i), version: &op.Answer.Items[j]})
			}
		}
	}
}

// watches takes in what watches delivered, those with a selector last: a DELETED there may mean that the object left the
// selection, so it is no account of a deletion.
func (m *merger) watches(selecting bool) {
	for i := range m.h.Streams {
		s := &m.h.Streams[i]
		if (s.Request.Group != "") != selecting {
			continue
		}
		for j := range s.Changes {
			c := &s.Changes[j]
			if c.Version == nil || c.Version.Revision == 0 {
				continue
			}
			gone := c.Type == "DELETED"
			if gone && selecting {
				m.left(s, c)
				continue
			}
			m.see(sight{time: c.Time, line: c.Index, by: byWatch, op: none, stream: s, version: c.Version, gone: gone})
		}
	}
}

// left notes that a watch with a selector saw an object leave.
func (m *merger) left(s *history.Stream, c *history.Arrival) {
	at, ok := m.index.find(c.Version.Revision)
	if !ok {
		return // judged by the watch's checker, which finds that nobody else knows of it
	}
	e := &m.entries[at]
	if m.keys[e.key] != c.Version.Key {
		m.dispute(e, &sight{time: c.Time, line: c.Index, by: byWatch, op: none, stream: s, version: c.Version}, "key", m.keys[e.key], c.Version.Key)
		return
	}
	e.by |= byWatch
	if c.Time < e.seen {
		e.seen, e.line = c.Time, c.Index
	}
}

// see takes in one account. It returns the entry's position, or none if the account is not judged.
func (m *merger) see(s sight) int32 {
	if !m.options.own(s.version.Key) {
		return none
	}
	at, known := m.index.find(s.version.Revision)
	if !known {
		return m.add(s)
	}
	e := &m.entries[at]
	e.by |= s.by
	if s.time < e.seen {
		e.seen, e.line = s.time, s.line
	}
	if e.version == s.version {
		return at
	}
	switch v := e.version; {
	case m.keys[e.key] != s.version.Key:
		m.dispute(e, &s, "key", m.keys[e.key], s.version.Key)
	case e.gone != s.gone:
		m.dispute(e, &s, "deletion", yesNo(e.gone), yesNo(s.gone))
	case v.ID != s.version.ID && !(e.gone && e.writer != none):
		m.dispute(e, &s, "write", v.ID, s.version.ID)
	case v.UID != s.version.UID && v.UID != "" && s.version.UID != "":
		m.dispute(e, &s, "uid", v.UID, s.version.UID)
	case v.Digest != s.version.Digest && v.Digest != 0 && s.version.Digest != 0 && !e.gone:
		m.dispute(e, &s, "content", "", "")
	}
	return at
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// dispute tells that two observers saw different things in one revision. If a watch alone differs from what the writer was
// told, the watch is wrong (W4); else nobody knows who is (V2).
func (m *merger) dispute(e *entry, s *sight, what, first, second string) {
	if e.disputed {
		return
	}
	e.disputed = true
	guarantee := "V2"
	if s.by == byWatch && e.by&byAck != 0 && (what == "content" || what == "uid") {
		guarantee = "W4"
	}
	at, _ := m.index.find(e.revision)
	saw := map[string]string{"key": "a change of " + s.version.Key, "write": "the write " + second + " and not " + first, "uid": "uid " + second + " and not " + first,
		"content": "other content", "deletion": "that " + m.keys[e.key] + " went"}[what]
	if what == "deletion" && !s.gone {
		saw = "that " + m.keys[e.key] + " was there"
	}
	keys := []string{m.keys[e.key]}
	if what == "key" {
		keys = append(keys, s.version.Key)
	}
	m.broke(guarantee, evidence{min(e.seen, s.time), max(e.seen, s.time), []int64{s.line, e.line}, keys},
		"one revision is two things: %s saw %s in what others saw as %s", s.who(m.log), saw, m.change(at))
}

// add makes a new entry of an account, and finds out whose work it is.
func (m *merger) add(s sight) int32 {
	at := int32(len(m.entries))
	e := entry{revision: s.version.Revision, version: s.version, seen: s.time, line: s.line, key: m.key(s.version.Key), writer: none, gone: s.gone, by: s.by}
	m.index.put(e.revision, at, len(m.entries)+1)
	if s.gone {
		m.gone = append(m.gone, at)
	} else if !(s.op != none && m.h.Operations[s.op].F == history.Delete) {
		e.writer = m.author(at, &e, &s)
	}
	m.entries = append(m.entries, e)
	if e.writer != none {
		m.opEntry[e.writer] = at
	}
	return at
}

// author finds the operation whose ID a new version carries.
func (m *merger) author(at int32, e *entry, s *sight) int32 {
	id := s.version.ID
	writer, ok := s.op, s.by == byAck && id == m.h.Operations[s.op].Request.ID
	if !ok {
		writer, ok = m.writers.find(id)
	}
	if ok && m.opEntry[writer] == none && m.opKey[writer] == e.key && m.h.Operations[writer].Outcome != history.Fail {
		return writer
	}
	proof := evidence{s.time, s.time, []int64{s.line}, []string{s.version.Key}}
	if !ok {
		if !m.foreign(s.version.Key) && (id != "" || m.written[s.version.Key]) {
			m.broke(phantom(s.by), proof, "%s saw revision %d of %s, which no operation of this history wrote (its write is named %q)", s.who(m.log), s.version.Revision, s.version.Key, id)
		}
		return none
	}
	op := &m.h.Operations[writer]
	proof.lines, proof.from = append(proof.lines, op.Index), op.Invoked
	earlier := m.opEntry[writer]
	switch {
	case earlier != none && m.same[id]:
		m.twice(writer, "V5", proof, "a write that changes nothing made a change: %s shows the work of %s, as revision %d did before", m.revision(e), call(op), m.entries[earlier].revision)
		return none
	case earlier != none && m.foreign(s.version.Key) && m.keys[m.entries[earlier].key] == s.version.Key:
		return none // others change the object and leave the ID on it
	case earlier != none:
		m.twice(writer, "A1", proof, "%s took effect twice, as %s and as %s", call(op), m.revision(&m.entries[earlier]), m.revision(e))
		return none
	case m.opKey[writer] != none && m.opKey[writer] != e.key:
		m.twice(writer, "A1", proof, "%s took effect on another object: %s", call(op), m.revision(e))
		return none
	case op.Outcome == history.Fail && op.Answer != nil && op.Answer.RetryAfter:
		m.twice(writer, "A3", proof, "%s was %s with Retry-After, which says that it never took effect, and was seen as %s by %s", call(op), answer(op), m.revision(e), s.who(m.log))
	case op.Outcome == history.Fail && op.Answer != nil && (op.Answer.Code == 404 || op.Answer.Code == 409 || op.Answer.Code == 422):
		m.twice(writer, "A2", proof, "%s was %s, as if it had been done, sent again and met its own work: it was seen as %s by %s", call(op), answer(op), m.revision(e), s.who(m.log))
	case op.Outcome == history.Fail:
		m.twice(writer, "A2", proof, "%s was %s, which says that it never took effect, and was seen as %s by %s", call(op), answer(op), m.revision(e), s.who(m.log))
	}
	return writer
}

// twice tells at most once of an operation.
func (m *merger) twice(op int32, guarantee string, proof evidence, format string, values ...any) {
	if !m.told[op] {
		m.told[op] = true
		m.broke(guarantee, proof, format, values...)
	}
}

// phantom is the guarantee that is broken when something is seen that nobody wrote.
func phantom(by uint8) string {
	switch by {
	case byWatch:
		return "W4"
	case byList:
		return "L1"
	}
	return "O5"
}

func (m *merger) revision(e *entry) string {
	return "revision " + decimal(e.revision) + " of " + m.keys[e.key]
}

func (m *merger) plain(at int32) string { return m.revision(&m.entries[at]) }
