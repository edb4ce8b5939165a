package check_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/jepsen/check"
	"github.com/leasehold/leasehold/jepsen/history"
)

// tale is a legal history that is about to be changed: its lines, and what its world knows.
type tale struct {
	rng   *rand.Rand
	world *world
	lines []history.Event
	ops   []told
	acked map[string][]told // by key, acknowledged writes that have a version, by time
}

// told is an operation by the places of its lines.
type told struct {
	call, answer int
	in           *history.Request
	out          *history.Answer
	f            string
	outcome      history.Type
}

func newTale(seed uint64) *tale {
	w := newWorld(seed)
	t := &tale{rng: rand.New(rand.NewPCG(seed, 7)), world: w, lines: w.run(300), acked: make(map[string][]told)}
	open := make(map[string]int)
	for i, e := range t.lines {
		switch e.Type {
		case history.Invoke:
			open[e.Process] = i
		case history.OK, history.Fail, history.Info:
			call := open[e.Process]
			if t.lines[call].F == history.Watch {
				continue
			}
			o := told{call, i, t.lines[call].Request, e.Answer, t.lines[call].F, e.Type}
			t.ops = append(t.ops, o)
			if writing(o.f) && o.f != history.Delete && !o.in.Same && e.Type == history.OK {
				t.acked[o.in.Key] = append(t.acked[o.in.Key], o)
			}
		}
	}
	return t
}

// some returns one of those operations that fit, or false.
func (t *tale) some(fits func(o told) bool) (told, bool) {
	for _, i := range t.rng.Perm(len(t.ops)) {
		if fits(t.ops[i]) {
			return t.ops[i], true
		}
	}
	return told{}, false
}

// answer changes a copy of an operation's answer.
func (t *tale) answer(o told, change func(e *history.Event, a *history.Answer)) bool {
	e := &t.lines[o.answer]
	a := *e.Answer
	if a.Version != nil {
		v := *a.Version
		a.Version = &v
	}
	a.Items = slices.Clone(a.Items)
	e.Answer = &a
	change(e, &a)
	return true
}

// versions of an object in order, deletions without a key.
func (t *tale) versions(key string) []history.Version {
	var all []history.Version
	for _, h := range t.world.changes {
		if h.after.Key == key {
			v := h.after
			if h.kind == "DELETED" {
				v.Key = ""
			}
			all = append(all, v)
		}
	}
	return all
}

// earlier is the version of the object before a revision, if it was there.
func (t *tale) earlier(key string, revision uint64) (history.Version, bool) {
	all := t.versions(key)
	i := slices.IndexFunc(all, func(v history.Version) bool { return v.Revision == revision })
	if i < 1 || all[i-1].Key == "" {
		return history.Version{}, false
	}
	return all[i-1], true
}

func plainGet(o told) bool { return o.f == history.Get && o.outcome == history.OK }

// stream is the places of a stream's lines with events, of one that began at a revision.
func (t *tale) stream(fits func(in *history.Request, lines []int) bool) ([]int, *history.Request, bool) {
	requests := make(map[string]*history.Request)
	events := make(map[string][]int)
	var names []string
	for i, e := range t.lines {
		switch {
		case e.Type == history.Invoke && e.F == history.Watch:
			requests[e.Process] = e.Request
			names = append(names, e.Process)
		case e.Type == history.Seen:
			events[e.Process] = append(events[e.Process], i)
		}
	}
	for _, i := range t.rng.Perm(len(names)) {
		if fits(requests[names[i]], events[names[i]]) {
			return events[names[i]], requests[names[i]], true
		}
	}
	return nil, nil, false
}

func numeric(in *history.Request) bool { return in.Revision != "" && in.Revision != "0" && !in.Initial }

// insert puts a line after another.
func (t *tale) insert(after int, e history.Event) bool {
	t.lines = slices.Insert(t.lines, after+1, e)
	return true
}

// event returns a copy of a line with its change copied too.
func (t *tale) event(at int) history.Event {
	e := t.lines[at]
	c := *e.Change
	if c.Version != nil {
		v := *c.Version
		c.Version = &v
	}
	e.Change = &c
	return e
}

func (t *tale) isVersion(at int) bool { return t.lines[at].Change.Version != nil }

// Each makes a legal history illegal, if it can.
var illegal = map[string]func(*tale) bool{
	"a read shows the version before an acknowledged one": func(t *tale) bool {
		var old history.Version
		o, ok := t.some(func(o told) bool {
			if !plainGet(o) {
				return false
			}
			for _, w := range t.acked[o.in.Key] {
				if v, there := t.earlier(o.in.Key, w.out.Version.Revision); there && w.answer < o.call && w.out.Version.Revision <= o.out.Version.Revision {
					old = v
					return true
				}
			}
			return false
		})
		return ok && t.answer(o, func(_ *history.Event, a *history.Answer) { a.Version = &old })
	},
	"a read is moved before the call of the write that it shows": func(t *tale) bool {
		var written told
		o, ok := t.some(func(o told) bool {
			if !plainGet(o) {
				return false
			}
			i := slices.IndexFunc(t.acked[o.in.Key], func(w told) bool { return w.out.Version.Revision == o.out.Version.Revision })
			if i < 0 {
				return false
			}
			written = t.acked[o.in.Key][i]
			return written.call > 1
		})
		if !ok {
			return false
		}
		call, answer := t.lines[o.call], t.lines[o.answer]
		at := t.lines[written.call].Time
		call.Process, answer.Process = "moved", "moved"
		call.Time, answer.Time = at-2, at-1
		t.lines = slices.Delete(t.lines, o.answer, o.answer+1)
		t.lines = slices.Delete(t.lines, o.call, o.call+1)
		i := slices.IndexFunc(t.lines, func(e history.Event) bool { return e.Time >= at })
		t.lines = slices.Insert(t.lines, i, call, answer)
		return true
	},
	"a read is moved behind the acknowledgement of the next write": func(t *tale) bool {
		end := 0
		o, ok := t.some(func(o told) bool {
			if !plainGet(o) {
				return false
			}
			for _, w := range t.acked[o.in.Key] {
				if v, there := t.earlier(o.in.Key, w.out.Version.Revision); there && v.Revision == o.out.Version.Revision && w.answer > o.answer {
					end = w.answer
					return true
				}
			}
			return false
		})
		if !ok {
			return false
		}
		call, answer := t.lines[o.call], t.lines[o.answer]
		call.Process, answer.Process = "moved", "moved"
		call.Time, answer.Time = t.lines[end].Time+1, t.lines[end].Time+2
		t.lines = slices.Insert(t.lines, end+1, call, answer)
		t.lines = slices.Delete(t.lines, o.answer, o.answer+1)
		t.lines = slices.Delete(t.lines, o.call, o.call+1)
		return true
	},
	"a read says that nothing is there where something always is": func(t *tale) bool {
		o, ok := t.some(func(o told) bool { return plainGet(o) && slices.Contains(lasting, o.in.Key) })
		return ok && t.answer(o, func(e *history.Event, a *history.Answer) {
			e.Type = history.Fail
			*a = history.Answer{Code: 404, Reason: "NotFound"}
		})
	},
	"a write is acknowledged with the revision of another": func(t *tale) bool {
		o, ok := t.some(func(o told) bool { return slices.Contains(t.acked[o.in.Key], o) })
		p, also := t.some(func(p told) bool {
			return slices.Contains(t.acked[p.in.Key], p) && p.out.Version.Revision != o.out.Version.Revision
		})
		return ok && also && t.answer(o, func(_ *history.Event, a *history.Answer) { a.Version.Revision = p.out.Version.Revision })
	},
	"two writes exchange their revisions": func(t *tale) bool {
		o, ok := t.some(func(o told) bool { return slices.Contains(t.acked[o.in.Key], o) })
		p, also := t.some(func(p told) bool {
			return slices.Contains(t.acked[p.in.Key], p) && p.out.Version.Revision != o.out.Version.Revision
		})
		if !ok || !also {
			return false
		}
		x, y := o.out.Version.Revision, p.out.Version.Revision
		return t.answer(o, func(_ *history.Event, a *history.Answer) { a.Version.Revision = y }) &&
			t.answer(p, func(_ *history.Event, a *history.Answer) { a.Version.Revision = x })
	},
	"an acknowledged write says that it failed": func(t *tale) bool {
		o, ok := t.some(func(o told) bool { return slices.Contains(t.acked[o.in.Key], o) })
		return ok && t.answer(o, func(e *history.Event, a *history.Answer) {
			e.Type = history.Fail
			*a = history.Answer{Code: 503, Reason: "ServiceUnavailable"}
		})
	},
	"a create says that the object exists which it made": func(t *tale) bool {
		o, ok := t.some(func(o told) bool { return o.f == history.Create && o.outcome == history.OK })
		return ok && t.answer(o, func(e *history.Event, a *history.Answer) {
			e.Type = history.Fail
			*a = history.Answer{Code: 409, Reason: "AlreadyExists"}
		})
	},
	"an update demanded another version": func(t *tale) bool {
		var old history.Version
		o, ok := t.some(func(o told) bool {
			v, there := t.earlier(o.in.Key, revisionOf(o))
			old = v
			return o.f == history.Update && o.outcome == history.OK && !o.in.Same && there
		})
		if !ok {
			return false
		}
		in := *o.in
		in.Revision = text(old.Revision - 1)
		t.lines[o.call].Request = &in
		return true
	},
	"a create replaces": func(t *tale) bool {
		o, ok := t.some(func(o told) bool {
			_, there := t.earlier(o.in.Key, revisionOf(o))
			return o.f == history.Update && o.outcome == history.OK && !o.in.Same && there
		})
		if !ok {
			return false
		}
		in := *o.in
		in.Revision, in.UID = "", ""
		t.lines[o.call].Request, t.lines[o.call].F = &in, history.Create
		return true
	},
	"a list lacks an object": func(t *tale) bool {
		o, ok := t.some(func(o told) bool {
			return o.f == history.List && len(o.out.Items) > 0 && (o.in.Listing == "" || o.out.More && len(o.out.Items) > 1)
		})
		return ok && t.answer(o, func(_ *history.Event, a *history.Answer) {
			i := t.rng.IntN(len(a.Items))
			if o.in.Listing != "" && i == len(a.Items)-1 { // the next page could begin with it, but does not
				i = 0
			}
			a.Items = slices.Delete(a.Items, i, i+1)
		})
	},
	"a list shows an old version": func(t *tale) bool {
		o, ok := t.some(func(o told) bool {
			return o.f == history.List && slices.ContainsFunc(o.out.Items, func(v history.Version) bool { _, there := t.earlier(v.Key, v.Revision); return there })
		})
		return ok && t.answer(o, func(_ *history.Event, a *history.Answer) {
			for i := range a.Items {
				if v, there := t.earlier(a.Items[i].Key, a.Items[i].Revision); there {
					a.Items[i] = v
					return
				}
			}
		})
	},
	"a list shows an object twice": func(t *tale) bool {
		o, ok := t.some(func(o told) bool { return o.f == history.List && len(o.out.Items) > 0 })
		return ok && t.answer(o, func(_ *history.Event, a *history.Answer) { a.Items = append(a.Items, a.Items[0]) })
	},
	"a list shows what is gone": func(t *tale) bool {
		var gone history.Version
		o, ok := t.some(func(o told) bool {
			if o.f != history.List || o.outcome != history.OK || o.in.Listing != "" || o.in.Key != "" || o.in.Group != "" {
				return false
			}
			for _, h := range t.world.changes {
				there := slices.ContainsFunc(o.out.Items, func(v history.Version) bool { return v.Key == h.before.Key })
				if h.kind == "DELETED" && h.after.Revision <= o.out.Revision && !there {
					gone = h.before
					return true
				}
			}
			return false
		})
		return ok && t.answer(o, func(_ *history.Event, a *history.Answer) {
			a.Items = append(a.Items, gone)
			slices.SortFunc(a.Items, func(a, b history.Version) int { return strings.Compare(a.Key, b.Key) })
		})
	},
	"a default list is whole but old": func(t *tale) bool {
		old := uint64(0)
		o, ok := t.some(func(o told) bool {
			if o.f != history.List || o.in.Revision != "" || o.in.Listing != "" {
				return false
			}
			for _, writes := range t.acked {
				for _, w := range writes {
					if w.answer < o.call {
						old = w.out.Version.Revision - 1
						return true
					}
				}
			}
			return false
		})
		return ok && t.answer(o, func(_ *history.Event, a *history.Answer) { a.Revision, a.Items = old, t.world.state(old, o.in) })
	},
	"an exact list is of another revision": func(t *tale) bool {
		o, ok := t.some(func(o told) bool { return o.in.Match == "Exact" && o.f == history.List })
		return ok && t.answer(o, func(_ *history.Event, a *history.Answer) { a.Revision++ })
	},
	"a page is of another revision": func(t *tale) bool {
		o, ok := t.some(func(o told) bool { return o.in.Page > 0 })
		return ok && t.answer(o, func(_ *history.Event, a *history.Answer) { a.Revision++ })
	},
	"a watch drops an event": func(t *tale) bool {
		lines, _, ok := t.stream(func(in *history.Request, lines []int) bool {
			return numeric(in) && len(lines) > 1 && t.isVersion(lines[0])
		})
		if !ok {
			return false
		}
		at := t.rng.IntN(len(lines) - 1)
		for !t.isVersion(lines[at]) {
			at--
		}
		t.lines = slices.Delete(t.lines, lines[at], lines[at]+1)
		return true
	},
	"a watch repeats an event": func(t *tale) bool {
		lines, _, ok := t.stream(func(in *history.Request, lines []int) bool {
			return numeric(in) && len(lines) > 0 && t.isVersion(lines[0])
		})
		return ok && t.insert(lines[len(lines)-1], t.later(t.event(lines[0]), lines[len(lines)-1]))
	},
	"a watch changes the order of two events": func(t *tale) bool {
		lines, _, ok := t.stream(func(in *history.Request, lines []int) bool {
			return numeric(in) && len(lines) > 1 && t.isVersion(lines[0]) && t.isVersion(lines[1])
		})
		if !ok {
			return false
		}
		a, b := t.event(lines[0]), t.event(lines[1])
		t.lines[lines[0]].Change, t.lines[lines[1]].Change = b.Change, a.Change
		return true
	},
	"a watch tells another type": func(t *tale) bool {
		lines, _, ok := t.stream(func(in *history.Request, lines []int) bool {
			return numeric(in) && len(lines) > 0 && t.isVersion(lines[0])
		})
		if !ok {
			return false
		}
		e := t.event(lines[0])
		was := e.Change.Type
		e.Change.Type = map[string]string{"ADDED": "MODIFIED", "MODIFIED": "ADDED", "DELETED": "MODIFIED"}[was]
		t.lines[lines[0]] = e
		return true
	},
	"a watch shows other content": func(t *tale) bool {
		lines, _, ok := t.stream(func(in *history.Request, lines []int) bool {
			return len(lines) > 0 && t.isVersion(lines[0]) && t.lines[lines[0]].Change.Type != "DELETED"
		})
		if !ok {
			return false
		}
		e := t.event(lines[0])
		e.Change.Version.Digest++
		t.lines[lines[0]] = e
		return true
	},
	"a watch shows what nobody wrote": func(t *tale) bool {
		lines, _, ok := t.stream(func(in *history.Request, lines []int) bool {
			return len(lines) > 0 && t.isVersion(lines[0]) && t.lines[lines[0]].Change.Type != "DELETED"
		})
		if !ok {
			return false
		}
		e := t.event(lines[0])
		e.Change.Version.ID = "nobody"
		t.lines[lines[0]] = e
		return true
	},
	"a bookmark comes before an event that it covers": func(t *tale) bool {
		lines, _, ok := t.stream(func(in *history.Request, lines []int) bool {
			return numeric(in) && len(lines) > 0 && t.isVersion(lines[0])
		})
		if !ok {
			return false
		}
		e := t.event(lines[0])
		e.Change = &history.Change{Type: "BOOKMARK", Revision: e.Change.Version.Revision}
		e.Time -= 1
		return t.insert(lines[0]-1, e)
	},
	"a bookmark goes back": func(t *tale) bool {
		lines, in, ok := t.stream(func(in *history.Request, lines []int) bool {
			return numeric(in) && len(lines) > 0 && t.isVersion(lines[0])
		})
		if !ok {
			return false
		}
		e := t.event(lines[len(lines)-1])
		start := uint64(0)
		fmt.Sscan(in.Revision, &start)
		e.Change = &history.Change{Type: "BOOKMARK", Revision: start}
		return t.insert(lines[len(lines)-1], t.later(e, lines[len(lines)-1]))
	},
	"initial events lack an object": func(t *tale) bool {
		lines, _, ok := t.stream(func(in *history.Request, lines []int) bool {
			return in.Initial && len(lines) > 1 && t.isVersion(lines[0]) && slices.ContainsFunc(lines, func(i int) bool { return t.lines[i].Change.InitialEnd })
		})
		if !ok {
			return false
		}
		t.lines = slices.Delete(t.lines, lines[0], lines[0]+1)
		return true
	},
	"initial events show an old version": func(t *tale) bool {
		lines, _, ok := t.stream(func(in *history.Request, lines []int) bool {
			if !in.Initial || len(lines) < 2 || !t.isVersion(lines[0]) || !slices.ContainsFunc(lines, func(i int) bool { return t.lines[i].Change.InitialEnd }) {
				return false
			}
			v := t.lines[lines[0]].Change.Version
			_, there := t.earlier(v.Key, v.Revision)
			return there
		})
		if !ok {
			return false
		}
		e := t.event(lines[0])
		old, _ := t.earlier(e.Change.Version.Key, e.Change.Version.Revision)
		e.Change.Version = &old
		t.lines[lines[0]] = e
		return true
	},
	"one write is done twice": func(t *tale) bool {
		var ids [2]string
		for key := range t.acked {
			if all := t.acked[key]; len(all) > 1 {
				ids = [2]string{all[0].in.ID, all[1].in.ID}
			}
		}
		if ids[0] == "" || t.sentAgain(ids[1]) || t.sentAgain(ids[0]) {
			return false
		}
		return t.rename(ids[1], ids[0])
	},
	"an element is lost": func(t *tale) bool {
		o, ok := t.some(func(o told) bool { return o.outcome == history.OK && o.in.Append != "" })
		if !ok {
			return false
		}
		return t.everywhere(o.out.Version.Revision, func(v *history.Version) { v.Elements = slices.Clone(v.Elements[:len(v.Elements)-1]) })
	},
	"an element stands there twice": func(t *tale) bool {
		o, ok := t.some(func(o told) bool { return o.outcome == history.OK && o.in.Append != "" })
		if !ok {
			return false
		}
		return t.everywhere(o.out.Version.Revision, func(v *history.Version) { v.Elements = append(slices.Clone(v.Elements), o.in.Append) })
	},
	"an object changes its uid": func(t *tale) bool {
		o, ok := t.some(func(o told) bool {
			_, there := t.earlier(o.in.Key, revisionOf(o))
			return o.f == history.Update && o.outcome == history.OK && !o.in.Same && there
		})
		return ok && t.everywhere(o.out.Version.Revision, func(v *history.Version) { v.UID = "another" })
	},
	"what was acknowledged is not there at the end": func(t *tale) bool {
		for i := len(t.ops) - 2; i < len(t.ops); i++ {
			t.answer(t.ops[i], func(_ *history.Event, a *history.Answer) { a.Items = a.Items[1:] })
		}
		return true
	},
}

func revisionOf(o told) uint64 {
	if o.out == nil || o.out.Version == nil {
		return 0
	}
	return o.out.Version.Revision
}

// later gives an event the time just after that of a line.
func (t *tale) later(e history.Event, line int) history.Event {
	e.Time = t.lines[line].Time
	return e
}

// sentAgain tells whether a write that changes nothing sent an ID.
func (t *tale) sentAgain(id string) bool {
	return slices.ContainsFunc(t.ops, func(o told) bool { return o.in.Same && o.in.ID == id })
}

// everywhere changes a version wherever it was seen.
func (t *tale) everywhere(revision uint64, change func(*history.Version)) bool {
	return t.each(func(v *history.Version) bool { return v.Revision == revision }, change)
}

// rename has all who saw a write see it as another.
func (t *tale) rename(id, as string) bool {
	return t.each(func(v *history.Version) bool { return v.ID == id }, func(v *history.Version) { v.ID = as })
}

func (t *tale) each(is func(*history.Version) bool, change func(*history.Version)) bool {
	for i := range t.lines {
		e := &t.lines[i]
		if e.Answer != nil {
			a := *e.Answer
			if a.Version != nil && is(a.Version) {
				v := *a.Version
				change(&v)
				a.Version = &v
			}
			a.Items = slices.Clone(a.Items)
			for j := range a.Items {
				if is(&a.Items[j]) {
					change(&a.Items[j])
				}
			}
			e.Answer = &a
		}
		if e.Change != nil && e.Change.Version != nil && is(e.Change.Version) {
			c := t.event(i)
			change(c.Change.Version)
			*e = c
		}
	}
	return true
}

// Each changes a legal history into another legal one, if it can.
var legal = map[string]func(*tale) bool{
	"an answer is lost": func(t *tale) bool {
		o, ok := t.some(func(o told) bool { return slices.Contains(t.acked[o.in.Key], o) })
		return ok && t.answer(o, func(e *history.Event, a *history.Answer) {
			e.Type = history.Info
			*a = history.Answer{}
		})
	},
	"a read fails": func(t *tale) bool {
		o, ok := t.some(plainGet)
		return ok && t.answer(o, func(e *history.Event, a *history.Answer) {
			e.Type = history.Fail
			*a = history.Answer{Code: 503}
		})
	},
	"an answer comes later": func(t *tale) bool {
		o, ok := t.some(func(o told) bool { return o.outcome == history.OK && o.answer+1 < len(t.lines) })
		if ok {
			t.lines[o.answer].Time += 5 * millisecond
		}
		return ok
	},
	"a watch ends before its last event": func(t *tale) bool {
		lines, _, ok := t.stream(func(in *history.Request, lines []int) bool { return in.Key != "" && len(lines) > 0 })
		if ok {
			last := lines[len(lines)-1]
			t.lines = slices.Delete(t.lines, last, last+1)
		}
		return ok
	},
	"an event comes late": func(t *tale) bool {
		lines, _, ok := t.stream(func(in *history.Request, lines []int) bool { return len(lines) > 0 })
		if ok {
			t.lines[lines[len(lines)-1]].Time += 50 * millisecond
		}
		return ok
	},
}

func TestIllegalHistoriesAreRejected(t *testing.T) {
	made, passed := 0, 0
	each := make(map[string]int)
	for seed := range histories(t) {
		for name, mutate := range illegal {
			tale := newTale(uint64(seed))
			if !mutate(tale) {
				continue
			}
			made++
			each[name]++
			report := check.Judge(build(t, tale.lines), check.Options{LinearOperations: -1})
			if report.Verdict != check.Broken {
				passed++
				if passed < 20 {
					t.Logf("seed %d, %s: %s", seed, name, report.Sentence)
				}
			}
		}
	}
	t.Logf("%d of %d illegal histories were rejected", made-passed, made)
	assert.LessOrEqual(t, passed*1000, made, "more than 1 in 1000 illegal histories passed")
	for name := range illegal {
		assert.NotZero(t, each[name], name)
	}
}

func TestLegalMutantsPass(t *testing.T) {
	for seed := range histories(t) {
		for name, mutate := range legal {
			tale := newTale(uint64(seed))
			if !mutate(tale) {
				continue
			}
			report := check.Judge(build(t, tale.lines), check.Options{})
			require.Equal(t, check.Pass, report.Verdict, "seed %d, %s: %s", seed, name, report.Sentence)
		}
	}
}
