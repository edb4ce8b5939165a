package check_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/jepsen/check"
	"github.com/leasehold/leasehold/jepsen/history"
)

const millisecond = 1_000_000

// story tells a small history line by line. Each line comes a millisecond after the one before.
type story struct {
	t        *testing.T
	builder  *history.Builder
	now      int64
	index    int64
	versions map[uint64]history.Version // what each revision holds
	current  map[string]history.Version // what each object is, as the story goes
	process  int
	lines    []history.Event
}

func newStory(t *testing.T) *story {
	return &story{t: t, builder: history.NewBuilder(), versions: make(map[uint64]history.Version), current: make(map[string]history.Version)}
}

func (s *story) line(e history.Event) {
	s.now += millisecond
	s.index++
	e.Time, e.Index = s.now, s.index
	s.lines = append(s.lines, e)
}

// history puts the story together.
func (s *story) history() *history.History {
	b := history.NewBuilder()
	for _, e := range s.lines {
		require.NoError(s.t, b.Add(e), "line %d", e.Index)
	}
	return b.History()
}

func (s *story) wait(ms int64) { s.now += ms * millisecond }

// call begins an operation of a process of its own.
func (s *story) call(f, node string, in history.Request) string {
	s.process++
	p := strconv.Itoa(s.process)
	s.line(history.Event{Process: p, Type: history.Invoke, F: f, Node: node, Request: &in})
	return p
}

func (s *story) ok(p string, out history.Answer) {
	if out.Code == 0 {
		out.Code = 200
	}
	s.line(history.Event{Process: p, Type: history.OK, Answer: &out})
}

func (s *story) fail(p string, code int, reason string) {
	s.line(history.Event{Process: p, Type: history.Fail, Answer: &history.Answer{Code: code, Reason: reason}})
}

func (s *story) info(p string) {
	s.line(history.Event{Process: p, Type: history.Info, Answer: &history.Answer{}})
}

// made makes the version of a revision.
func (s *story) made(key, id string, revision uint64) *history.Version {
	v, there := s.current[key]
	if !there {
		v = history.Version{Key: key, UID: "uid-" + id, Created: 100}
	}
	v.Revision, v.ID, v.Digest = revision, id, revision*7919
	s.current[key] = v
	s.versions[revision] = v
	return &v
}

// see returns what a revision holds.
func (s *story) see(revision uint64) *history.Version {
	v, ok := s.versions[revision]
	require.True(s.t, ok, "revision %d", revision)
	return &v
}

func (s *story) create(key, id string, revision uint64) {
	p := s.call(history.Create, "node-1", history.Request{Key: key, ID: id})
	s.ok(p, history.Answer{Code: 201, Version: s.made(key, id, revision)})
}

func (s *story) update(key, id string, demanded, revision uint64) {
	p := s.call(history.Update, "node-1", history.Request{Key: key, ID: id, Revision: text(demanded)})
	s.ok(p, history.Answer{Version: s.made(key, id, revision)})
}

// delete removes an object; the deletion's revision is told by watches alone.
func (s *story) delete(key, id string, revision uint64) {
	p := s.call(history.Delete, "node-1", history.Request{Key: key, ID: id})
	s.ok(p, history.Answer{Version: s.gone(key, revision)})
}

func (s *story) gone(key string, revision uint64) *history.Version {
	v := s.current[key]
	delete(s.current, key)
	v.Revision = revision
	s.versions[revision] = v
	return &history.Version{Key: key, UID: v.UID}
}

func (s *story) get(node, key string, revision uint64) {
	p := s.call(history.Get, node, history.Request{Key: key})
	s.ok(p, history.Answer{Version: s.see(revision)})
}

func (s *story) missing(node, key string) {
	s.fail(s.call(history.Get, node, history.Request{Key: key}), 404, "NotFound")
}

// list answers with the given revisions of objects.
func (s *story) list(node string, in history.Request, revision uint64, items ...uint64) {
	s.ok(s.call(history.List, node, in), s.page(revision, false, items...))
}

func (s *story) page(revision uint64, more bool, items ...uint64) history.Answer {
	out := history.Answer{Revision: revision, More: more}
	for _, r := range items {
		out.Items = append(out.Items, *s.see(r))
	}
	return out
}

// watch opens a stream and delivers events, each as type:revision, B:revision for a bookmark and I:revision for the one that
// ends the initial events.
func (s *story) watch(node string, in history.Request, events ...string) {
	p := s.call(history.Watch, node, in)
	s.ok(p, history.Answer{})
	s.deliver(p, events...)
	s.line(history.Event{Process: p, Type: history.End, Note: history.EndedByClient})
}

func (s *story) deliver(p string, events ...string) {
	types := map[string]string{"A": "ADDED", "M": "MODIFIED", "D": "DELETED"}
	for _, event := range events {
		kind, at, _ := strings.Cut(event, ":")
		revision, err := strconv.ParseUint(at, 10, 64)
		require.NoError(s.t, err)
		c := &history.Change{Type: types[kind]}
		switch kind {
		case "B", "I":
			c.Type, c.Revision, c.InitialEnd = "BOOKMARK", revision, kind == "I"
		default:
			c.Version = s.see(revision)
		}
		s.line(history.Event{Process: p, Type: history.Seen, Change: c})
	}
}

func (s *story) lead(p, key, holder string, at int64) {
	s.line(history.Event{Process: p, Type: history.Lead, Tenure: &history.Tenure{Key: key, Holder: holder, Client: p, At: at}})
}

func (s *story) yield(p, key, holder string, at int64) {
	s.line(history.Event{Process: p, Type: history.Yield, Tenure: &history.Tenure{Key: key, Holder: holder, Client: p, At: at}})
}

func text(revision uint64) string { return strconv.FormatUint(revision, 10) }

// broken are the guarantees that a report says were broken, each once.
func broken(report check.Report) []string {
	seen := make(map[string]bool)
	names := []string{}
	for _, r := range report.Results {
		for _, f := range r.Findings {
			if f.Verdict == check.Broken && !seen[f.Guarantee] {
				seen[f.Guarantee] = true
				names = append(names, f.Guarantee)
			}
		}
	}
	return names
}

func sentences(report check.Report) string {
	var b strings.Builder
	for _, r := range report.Results {
		for _, f := range r.Findings {
			b.WriteString(r.Checker + "." + f.Guarantee + ": " + f.Sentence + "\n")
		}
	}
	return b.String()
}
