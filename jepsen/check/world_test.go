package check_test

import (
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"

	"github.com/leasehold/leasehold/jepsen/history"
)

// world is a perfect server in little with clients that act at random. What it writes down is legal by construction: each
// operation takes effect at one moment between its call and its answer.
type world struct {
	rng   *rand.Rand
	now   int64
	index int64
	lines []history.Event

	revision uint64
	current  map[string]history.Version
	changes  []happened // by revision

	clients []*client
	lost    []*client // calls without an answer that may still take effect
	streams []*streamer
	local   map[string]uint64 // by node, the revision that its cache is at
	named   int
}

// happened is one change, and when it was.
type happened struct {
	time          int64
	kind          string
	before, after history.Version // before has no key if the object was not there, after holds what the event shows
}

type client struct {
	name   string
	phase  int // 0 idle, 1 called, 2 done
	event  history.Event
	answer history.Event
	pages  *history.Answer // what is left of a list in pages
	page   history.Request
}

type streamer struct {
	name  string
	open  bool
	in    history.Request
	node  string
	begun uint64 // it began after this revision
	at    int    // how many of the changes it is past
	full  bool
}

var worldKeys = []string{"a/k1", "a/k2", "a/k3", "b/k1", "b/k2"}

// The objects that are made first and never removed.
var lasting = []string{"a/last", "b/last"}

func newWorld(seed uint64) *world {
	return &world{rng: rand.New(rand.NewPCG(seed, 99)), revision: 1000, current: make(map[string]history.Version), local: make(map[string]uint64)}
}

func (w *world) line(e history.Event) {
	w.now += 1 + w.rng.Int64N(millisecond)
	w.index++
	e.Time, e.Index = w.now, w.index
	w.lines = append(w.lines, e)
}

func (w *world) node() string { return "node-" + strconv.Itoa(1+w.rng.IntN(3)) }

func (w *world) chance(percent int) bool { return w.rng.IntN(100) < percent }

// run tells a history of about so many steps, and ends it as runs end: with rest, last lists, and watches that catch up.
func (w *world) run(steps int) []history.Event {
	for i := range 5 {
		w.clients = append(w.clients, &client{name: "c" + strconv.Itoa(i)})
	}
	for i := range 3 {
		w.streams = append(w.streams, &streamer{name: "full" + strconv.Itoa(i), full: true, node: "node-" + strconv.Itoa(i+1), in: history.Request{Revision: "1000", Bookmark: true}})
	}
	for i := range 4 {
		w.streams = append(w.streams, &streamer{name: "churn" + strconv.Itoa(i)})
	}
	for _, key := range lasting {
		c := &client{name: "first-" + key}
		w.call(c, history.Create, history.Request{Key: key, ID: w.id(), Group: "red"})
		w.effect(c)
		w.line(c.answer)
	}
	for range steps {
		switch w.rng.IntN(10) {
		case 0, 1, 2:
			w.stream(w.streams[w.rng.IntN(len(w.streams))])
		case 3:
			if len(w.lost) > 0 && w.chance(30) {
				i := w.rng.IntN(len(w.lost))
				w.effect(w.lost[i])
				w.lost = slices.Delete(w.lost, i, i+1)
			}
		default:
			w.step(w.clients[w.rng.IntN(len(w.clients))])
		}
	}
	for _, c := range w.clients {
		for c.phase != 0 {
			w.step(c)
		}
	}
	w.now += 30_000 * millisecond
	for i := range 2 {
		c := &client{name: "last" + strconv.Itoa(i)}
		w.call(c, history.List, history.Request{})
		w.effect(c)
		w.line(c.answer)
	}
	for _, s := range w.streams {
		if s.full {
			for !s.open || s.at < len(w.changes) {
				w.stream(s)
			}
			w.line(history.Event{Process: s.name, Type: history.Seen, Change: &history.Change{Type: "BOOKMARK", Revision: w.revision}})
		}
	}
	return w.lines
}

func (w *world) id() string {
	w.named++
	return "w" + strconv.Itoa(w.named)
}

// step moves a client on: it calls, its call takes effect, it is answered.
func (w *world) step(c *client) {
	switch c.phase {
	case 0:
		w.choose(c)
	case 1:
		if writing(c.event.F) && w.chance(5) {
			w.line(history.Event{Process: c.name, Type: history.Info, Answer: &history.Answer{Error: "cut"}})
			if w.chance(50) {
				lost := *c
				w.lost = append(w.lost, &lost)
			}
			w.renew(c)
			return
		}
		w.effect(c)
	case 2:
		if writing(c.event.F) && w.chance(3) {
			w.line(history.Event{Process: c.name, Type: history.Info, Answer: &history.Answer{Error: "cut"}})
			w.renew(c)
			return
		}
		w.line(c.answer)
		c.phase = 0
	}
}

// renew gives a client the name of another, as its own is used up.
func (w *world) renew(c *client) {
	c.name, c.phase, c.pages = c.name+"'", 0, nil
}

func writing(f string) bool { return f != history.Get && f != history.List }

func (w *world) call(c *client, f string, in history.Request) {
	c.event = history.Event{Process: c.name, Type: history.Invoke, F: f, Node: w.node(), Request: &in}
	c.phase = 1
	w.line(c.event)
}

func (w *world) choose(c *client) {
	if c.pages != nil {
		in := c.page
		in.Page++
		c.page = in
		w.call(c, history.List, in)
		return
	}
	key := worldKeys[w.rng.IntN(len(worldKeys))]
	if w.chance(20) {
		key = lasting[w.rng.IntN(len(lasting))]
	}
	in := history.Request{Key: key}
	known := w.known(key)
	groups := []string{"red", "blue"}
	switch n := w.rng.IntN(100); {
	case n < 25:
		w.call(c, history.Get, in)
	case n < 35:
		in.ID, in.Group = w.id(), groups[w.rng.IntN(2)]
		w.call(c, history.Create, in)
	case n < 60:
		in.ID, in.Group, in.Revision = w.id(), groups[w.rng.IntN(2)], text(max(1, known.Revision))
		if w.chance(30) && known.UID != "" {
			in.UID = known.UID
		}
		w.call(c, history.Update, in)
	case n < 65:
		in.ID, in.Group = w.id(), groups[w.rng.IntN(2)]
		w.call(c, history.Put, in)
	case n < 73:
		in.ID = w.id()
		in.Append, in.Blind = in.ID, true
		w.call(c, history.Patch, in)
	case n < 76:
		in.ID, in.Revision = w.id(), text(max(1, known.Revision))
		w.call(c, history.Patch, in)
	case n < 79 && known.Revision > 0:
		in.ID, in.Revision, in.UID, in.Same = known.ID, text(known.Revision), known.UID, true
		w.call(c, history.Update, in)
	case n < 88 && !slices.Contains(lasting, key):
		in.ID = w.id()
		if w.chance(40) && known.Revision > 0 {
			in.Revision = text(known.Revision)
		}
		w.call(c, history.Delete, in)
	default:
		w.list(c)
	}
}

// known is a version of an object that a client may remember, most often the latest.
func (w *world) known(key string) history.Version {
	if w.chance(60) {
		return w.current[key]
	}
	for range 5 {
		if len(w.changes) > 0 {
			if h := w.changes[w.rng.IntN(len(w.changes))]; h.after.Key == key && h.kind != "DELETED" {
				return h.after
			}
		}
	}
	return w.current[key]
}

func (w *world) list(c *client) {
	in := history.Request{Key: []string{"", "", "a/", "b/", "a/k1"}[w.rng.IntN(5)]}
	if w.chance(25) {
		in.Group = "red"
	}
	some := text(1001 + w.rng.Uint64N(w.revision-1000))
	switch w.rng.IntN(6) {
	case 0:
		in.Revision = "0"
	case 1:
		in.Revision, in.Match = some, "NotOlderThan"
	case 2:
		in.Revision, in.Match = some, "Exact"
	case 3:
		in.Listing, in.Limit = w.id(), 1+w.rng.IntN(3)
		c.page, c.pages = in, &history.Answer{}
	}
	w.call(c, history.List, in)
}

// state is what was there at a revision, of a scope, in the order of keys.
func (w *world) state(revision uint64, in *history.Request) []history.Version {
	at := make(map[string]history.Version)
	for _, h := range w.changes {
		if h.after.Revision > revision {
			break
		}
		if h.kind == "DELETED" {
			delete(at, h.after.Key)
		} else {
			at[h.after.Key] = h.after
		}
	}
	var items []history.Version
	for _, v := range at {
		if within(in, &v) {
			items = append(items, v)
		}
	}
	sort.Slice(items, func(i, j int) bool { return items[i].Key < items[j].Key })
	return items
}

// within tells whether a list or watch is of an object.
func within(in *history.Request, v *history.Version) bool {
	inKey := in.Key == "" || in.Key == v.Key || in.Key[len(in.Key)-1] == '/' && len(v.Key) > len(in.Key) && v.Key[:len(in.Key)] == in.Key
	return inKey && (in.Group == "" || in.Group == v.Group)
}

// effect has a call take effect and makes its answer.
func (w *world) effect(c *client) {
	w.now++
	c.phase = 2
	in := c.event.Request
	ok := func(a history.Answer) {
		if a.Code == 0 {
			a.Code = 200
		}
		c.answer = history.Event{Process: c.name, Type: history.OK, Answer: &a}
	}
	fail := func(code int, reason string) {
		c.answer = history.Event{Process: c.name, Type: history.Fail, Answer: &history.Answer{Code: code, Reason: reason}}
	}
	if c.event.F == history.List {
		ok(w.listed(c, in))
		return
	}
	v, there := w.current[in.Key]
	wrong := there && (in.Revision != "" && in.Revision != text(v.Revision) || in.UID != "" && in.UID != v.UID)
	switch f := c.event.F; {
	case f == history.Create && there:
		fail(409, "AlreadyExists")
	case f == history.Put && there:
		fail(422, "Invalid")
	case f == history.Update && !there && in.UID != "", wrong:
		fail(409, "Conflict")
	case !there && f != history.Create && f != history.Put && f != history.Update:
		fail(404, "NotFound")
	case f == history.Get:
		ok(history.Answer{Version: &v})
	case in.Same:
		ok(history.Answer{Version: &v})
	case f == history.Delete:
		w.revision++
		delete(w.current, in.Key)
		gone := v
		gone.Revision = w.revision
		w.changes = append(w.changes, happened{w.now, "DELETED", v, gone})
		ok(history.Answer{Version: &history.Version{Key: v.Key, UID: v.UID}})
	default:
		w.revision++
		next, kind, code := v, "MODIFIED", 200
		if !there {
			next, kind, code = history.Version{Key: in.Key, UID: "u" + text(w.revision), Created: int64(w.revision)}, "ADDED", 201
		}
		next.Revision, next.ID, next.Digest = w.revision, in.ID, w.revision*7919
		if in.Group != "" {
			next.Group = in.Group
		}
		if in.Append != "" {
			next.Elements = append(slices.Clone(next.Elements), in.Append)
		}
		w.current[in.Key] = next
		w.changes = append(w.changes, happened{w.now, kind, v, next})
		ok(history.Answer{Code: code, Version: &next})
	}
}

func (w *world) listed(c *client, in *history.Request) history.Answer {
	if c.pages != nil {
		return w.paged(c, in)
	}
	at := w.revision
	asked, _ := strconv.ParseUint(in.Revision, 10, 64)
	local := w.local[c.event.Node]
	local = max(local, 1000) + w.rng.Uint64N(w.revision-max(local, 1000)+1)
	switch {
	case in.Revision == "0":
		at = local
	case in.Match == "Exact":
		return history.Answer{Revision: asked, Items: w.state(asked, in)}
	case asked > 0:
		at = max(asked, local)
	}
	w.local[c.event.Node] = at
	return history.Answer{Revision: at, Items: w.state(at, in)}
}

func (w *world) paged(c *client, in *history.Request) history.Answer {
	if in.Page == 0 {
		w.local[c.event.Node] = w.revision
		c.pages = &history.Answer{Revision: w.revision, Items: w.state(w.revision, in)}
	}
	n := min(in.Limit, len(c.pages.Items))
	a := history.Answer{Revision: c.pages.Revision, Items: c.pages.Items[:n], More: n < len(c.pages.Items)}
	c.pages = &history.Answer{Revision: a.Revision, Items: c.pages.Items[n:]}
	if !a.More {
		c.pages = nil
	}
	return a
}

// stream moves a watch on: it opens, or delivers, or ends.
func (w *world) stream(s *streamer) {
	switch {
	case !s.open:
		w.begin(s)
	case s.at < len(w.changes):
		h := &w.changes[s.at]
		s.at++
		if kind, v := shown(&s.in, h); kind != "" {
			w.line(history.Event{Process: s.name, Type: history.Seen, Change: &history.Change{Type: kind, Version: v}})
		}
	case w.chance(50):
		w.line(history.Event{Process: s.name, Type: history.Seen, Change: &history.Change{Type: "BOOKMARK", Revision: w.revision}})
	}
	if s.open && w.chance(3) {
		w.line(history.Event{Process: s.name, Type: history.End, Note: history.EndedByServer})
		s.open = false
	}
}

// shown is how a change looks to a watch, or "" if it does not concern it.
func shown(in *history.Request, h *happened) (kind string, v *history.Version) {
	before, after := h.before.Key != "" && within(in, &h.before), h.kind != "DELETED" && within(in, &h.after)
	switch {
	case before && after:
		return "MODIFIED", &h.after
	case after:
		return "ADDED", &h.after
	case before && h.kind == "DELETED":
		return "DELETED", &h.after
	case before:
		left := h.before
		left.Revision = h.after.Revision
		return "DELETED", &left
	}
	return "", nil
}

func (w *world) begin(s *streamer) {
	s.open = true
	s.name += "'"
	reached := uint64(1000)
	if s.at > 0 {
		reached = w.changes[s.at-1].after.Revision
	}
	if s.full {
		s.in.Revision = text(reached)
	} else {
		s.in = history.Request{Key: []string{"", "a/", "b/", "a/k1"}[w.rng.IntN(4)], Bookmark: true}
		if w.chance(40) {
			s.in.Group = "red"
		}
		switch w.rng.IntN(4) {
		case 0:
			s.in.Revision = "0"
		case 1:
			s.in.Initial, s.in.Match = true, "NotOlderThan"
		default:
			s.in.Revision = text(1000 + w.rng.Uint64N(w.revision-999))
		}
		s.node = w.node()
	}
	in := s.in
	w.line(history.Event{Process: s.name, Type: history.Invoke, F: history.Watch, Node: s.node, Request: &in})
	w.line(history.Event{Process: s.name, Type: history.OK, Answer: &history.Answer{Code: 200}})
	at := w.revision
	switch {
	case in.Revision == "0":
		at = 1000 + w.rng.Uint64N(w.revision-999)
	case !in.Initial:
		at, _ = strconv.ParseUint(in.Revision, 10, 64)
	}
	s.begun = at
	s.at = int(at - 1000)
	if in.Initial || in.Revision == "0" {
		for _, v := range w.state(at, &in) {
			w.line(history.Event{Process: s.name, Type: history.Seen, Change: &history.Change{Type: "ADDED", Version: &v}})
		}
	}
	if in.Initial {
		w.line(history.Event{Process: s.name, Type: history.Seen, Change: &history.Change{Type: "BOOKMARK", Revision: at, InitialEnd: true}})
	}
}
