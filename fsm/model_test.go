package fsm

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/hashicorp/raft"
	"pgregory.net/rapid"
)

// model is the machine as one would write it without a thought of speed: everything is kept, everything is copied.
type model struct {
	revision     uint64
	oldest       uint64
	limit        int
	objects      map[Key]version
	states       map[uint64]map[Key]version
	events       []change
	sessions     map[SessionID]*run
	ended        map[SessionID]bool
	incarnations map[string]string
}

type version struct {
	key               Key
	uid               string
	revision, created uint64
	data              string
}

type change struct {
	kind             EventType
	object, previous version
}

type run struct {
	node    string
	mark    uint64
	results map[uint64]Result
}

func newModel() *model {
	return &model{
		revision: FirstRevision,
		oldest:   FirstRevision,
		limit:    DefaultHistoryBytes,
		objects:  map[Key]version{},
		states:   map[uint64]map[Key]version{FirstRevision: {}},
		sessions: map[SessionID]*run{},
		ended:    map[SessionID]bool{},
	}
}

func (m *model) apply(c Command) Result {
	outcome := Accepted
	switch c.Op {
	case OpCreate, OpUpdate, OpDelete:
		session := m.sessions[c.Session]
		if session == nil {
			return Result{Ended, m.revision}
		}
		session.mark = max(session.mark, c.Mark)
		if c.Seq <= session.mark {
			return Result{Stale, m.revision}
		}
		if kept, ok := session.results[c.Seq]; ok {
			return kept
		}
		outcome = m.change(c)
		session.results[c.Seq] = Result{outcome, m.revision}
	case OpOpenSession:
		switch current := m.sessions[c.Session]; {
		case current != nil && current.node != c.Node:
			outcome = Conflict
		case current != nil:
		case m.ended[c.Session]:
			outcome = Ended
		default:
			m.end(c.Node)
			m.sessions[c.Session] = &run{node: c.Node, results: map[uint64]Result{}}
		}
	case OpEndSession:
		m.end(c.Node)
	case OpCompact:
		if c.HistoryBytes > 0 {
			m.limit = int(c.HistoryBytes)
		}
		m.oldest = max(m.oldest, min(c.Revision, m.revision))
	case OpForm:
		if m.incarnations == nil {
			m.incarnations = c.Incarnations
		} else if !maps.Equal(m.incarnations, c.Incarnations) {
			outcome = Exists
		}
	}
	m.oldest = max(m.oldest, m.reach(m.limit, 1<<62))
	return Result{outcome, m.revision}
}

func (m *model) end(node string) {
	for id, session := range m.sessions {
		if session.node == node {
			delete(m.sessions, id)
			m.ended[id] = true
		}
	}
}

func (m *model) change(c Command) Outcome {
	current, ok := m.objects[c.Key]
	if c.Op == OpCreate {
		if ok {
			return Exists
		}
		m.revision++
		made := version{c.Key, c.UID, m.revision, m.revision, string(c.Object)}
		m.objects[c.Key] = made
		m.record(change{kind: Added, object: made})
		return Accepted
	}
	if !ok {
		return Missing
	}
	if c.Expect.Revision != 0 && c.Expect.Revision != current.revision || c.Expect.UID != "" && c.Expect.UID != current.uid {
		return Conflict
	}
	m.revision++
	next := current
	next.revision = m.revision
	if c.Op == OpUpdate {
		next.data = string(c.Object)
		m.objects[c.Key] = next
		m.record(change{Modified, next, current})
		return Accepted
	}
	if len(c.Object) > 0 {
		next.data = string(c.Object)
	}
	delete(m.objects, c.Key)
	m.record(change{Deleted, next, current})
	return Accepted
}

func (m *model) record(c change) {
	m.events = append(m.events, c)
	m.states[m.revision] = maps.Clone(m.objects)
}

// reach returns the revision before the newest events that fit into both bounds.
func (m *model) reach(limit, events int) uint64 {
	oldest := m.revision
	for i := len(m.events) - 1; i >= 0 && events > 0; i, events = i-1, events-1 {
		c := m.events[i]
		limit -= eventBytes + len(c.previous.data)
		if c.kind == Deleted && c.object.data != c.previous.data {
			limit -= len(c.object.data)
		}
		if limit < 0 {
			break
		}
		oldest--
	}
	return oldest
}

func (m *model) listing(revision uint64, resource, namespace, after string) []version {
	var list []version
	for key, v := range m.states[revision] {
		if key.Resource == resource && (namespace == "" || key.Namespace == namespace) && (after == "" || key.String() > after) {
			list = append(list, v)
		}
	}
	slices.SortFunc(list, func(a, b version) int { return cmp.Compare(a.key.String(), b.key.String()) })
	return list
}

func versionOf(o *Object) version {
	if o == nil {
		return version{}
	}
	return version{o.Key, o.UID, o.Revision, o.Created, string(o.Data)}
}

func changeOf(e Event) change { return change{e.Type, versionOf(e.Object), versionOf(e.Previous)} }

func versions(state *State, resource, namespace, after string) []version {
	var list []version
	for object := range state.Scan(resource, namespace, after) {
		list = append(list, versionOf(object))
	}
	return list
}

// What the generated commands are about: few enough that they meet.
var (
	someResources  = []string{"leases", "leases-x"}
	someNamespaces = []string{"a", "a-b", "a0", "b", ""}
	someNames      = []string{"x", "x-y", "x/y", "z", "a"}
	someNodes      = []string{"n1", "n2", "n3"}
)

func drawKey(t *rapid.T) Key {
	return Key{
		Resource:  rapid.SampledFrom([]string{"leases", "leases", "leases", "leases-x"}).Draw(t, "resource"),
		Namespace: rapid.SampledFrom(someNamespaces).Draw(t, "namespace"),
		Name:      rapid.SampledFrom(someNames).Draw(t, "name"),
	}
}

func drawSession(t *rapid.T) SessionID {
	return SessionID{15: byte(rapid.IntRange(1, 9).Draw(t, "session"))}
}

// drawCommand draws a command that means something to m.
func drawCommand(t *rapid.T, m *model) Command {
	kind := rapid.IntRange(0, 99).Draw(t, "kind")
	switch {
	case kind < 8:
		return Command{Op: OpOpenSession, Session: drawSession(t), Node: rapid.SampledFrom(someNodes).Draw(t, "node")}
	case kind < 10:
		return Command{Op: OpEndSession, Node: rapid.SampledFrom(someNodes).Draw(t, "node")}
	case kind < 12:
		back := rapid.Uint64Range(0, 12).Draw(t, "back")
		bound := rapid.SampledFrom([]uint64{0, 0, 0, 1, 1000, 10_000, 100_000}).Draw(t, "bound")
		return Command{Op: OpCompact, Revision: m.revision + 2 - back, HistoryBytes: bound}
	case kind < 13:
		return Command{Op: OpReady}
	case kind < 14:
		node := rapid.SampledFrom(someNodes).Draw(t, "node")
		return Command{Op: OpForm, Incarnations: map[string]string{node: "i", "n9": "j"}}
	}
	session := drawSession(t)
	if open := slices.SortedFunc(maps.Keys(m.sessions), compareSessions); len(open) > 0 && kind < 95 {
		session = rapid.SampledFrom(open).Draw(t, "open session")
	}
	c := Command{
		Op:      rapid.SampledFrom([]Op{OpCreate, OpCreate, OpUpdate, OpUpdate, OpUpdate, OpDelete}).Draw(t, "op"),
		Session: session,
		Seq:     rapid.Uint64Range(0, 40).Draw(t, "seq"),
		Key:     drawKey(t),
		UID:     rapid.SampledFrom([]string{"", "u", "v"}).Draw(t, "uid"),
		Object:  rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "object"),
	}
	if rapid.IntRange(0, 9).Draw(t, "marked") == 0 {
		c.Mark = rapid.Uint64Range(0, 30).Draw(t, "mark")
	}
	if run := m.sessions[session]; run != nil && rapid.IntRange(0, 3).Draw(t, "fresh") > 0 {
		c.Seq = run.mark + uint64(len(run.results)) + rapid.Uint64Range(1, 3).Draw(t, "next")
	}
	if rapid.IntRange(0, 5).Draw(t, "expecting") == 0 {
		c.Expect.Revision = m.revision - rapid.Uint64Range(0, 10).Draw(t, "behind")
	} else if current, ok := m.objects[c.Key]; ok {
		c.Expect = Expect{Revision: current.revision, UID: rapid.SampledFrom([]string{"", "u", current.uid}).Draw(t, "expected uid")}
	}
	return c
}

func compareSessions(a, b SessionID) int { return bytes.Compare(a[:], b[:]) }

func entry(index, term uint64, commands ...Command) *raft.Log {
	data := []byte{EntryHeader}
	for i := range commands {
		data = AppendCommand(data, &commands[i])
	}
	return &raft.Log{Index: index, Term: term, Type: raft.LogCommand, Data: data}
}

// sink is a raft.SnapshotSink in memory.
type sink struct {
	bytes.Buffer
	closed, cancelled bool
}

func (s *sink) Close() error  { s.closed = true; return nil }
func (s *sink) Cancel() error { s.cancelled = true; return nil }
func (s *sink) ID() string    { return "test" }

type failer interface {
	Fatalf(format string, args ...any)
}

func snapshotOf(t failer, m *Machine) []byte {
	taken, err := m.Snapshot()
	if err != nil {
		t.Fatalf("snapshot: %v", err)
	}
	defer taken.Release()
	var s sink
	if err := taken.Persist(&s); err != nil || !s.closed {
		t.Fatalf("persist: %v, closed %v", err, s.closed)
	}
	return s.Bytes()
}

func readCloser(data []byte) io.ReadCloser { return io.NopCloser(bytes.NewReader(data)) }

func restored(t failer, options Options, snapshot []byte) *Machine {
	m := New(options)
	if err := m.Restore(readCloser(snapshot)); err != nil {
		t.Fatalf("restore: %v", err)
	}
	return m
}

func (c change) String() string { return fmt.Sprintf("%d %v <- %v", c.kind, c.object, c.previous) }
