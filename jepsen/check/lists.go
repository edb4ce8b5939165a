package check

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/leasehold/leasehold/jepsen/history"
)

// A list is judged against the state of the revision that it says it shows. Lists are taken in the order of these revisions
// and the state is played forward beside them, so each costs about as much as it has items.

// listing is one list: one answer, or the pages of one.
type listing struct {
	pages    []int32 // operations
	revision uint64
}

type lists struct {
	*reporter
	current []int32 // by key, the entry that it is at, or none
	played  int
	groups  map[string]int32
	counts  map[uint64]int32 // how many objects are there, by namespace and group: see tally
	grouped bool             // some list selects by group
}

// allSpaces and allGroups stand for any in a tally's key.
const allSpaces, allGroups = 1<<32 - 1, 1<<32 - 1

func tally(space, group uint32) uint64 { return uint64(space)<<32 | uint64(group) }

func judgeLists(l *log) Result {
	c := &lists{reporter: l.reporter("list", "L1", "L2", "L3", "L4", "L5", "D1", "D2", "W11"), groups: make(map[string]int32), counts: make(map[uint64]int32)}
	all := c.gather()
	c.current = make([]int32, len(c.keys))
	for i := range c.current {
		c.current[i] = none
	}
	for _, one := range all {
		c.play(one.revision)
		c.judge(one)
	}
	c.backwards()
	return c.done()
}

// gather puts the pages of each list together, and the lists in order of revision.
func (c *lists) gather() []listing {
	var all []listing
	paged := make(map[string]int)
	for i := range c.h.Operations {
		op := &c.h.Operations[i]
		if op.F != history.List {
			continue
		}
		c.grouped = c.grouped || op.Request.Group != ""
		if op.Outcome != history.OK || op.Answer == nil || op.Answer.Revision == 0 {
			continue
		}
		if op.Request.Listing != "" {
			if at, ok := paged[op.Request.Listing]; ok {
				all[at].pages = append(all[at].pages, int32(i))
				continue
			}
			paged[op.Request.Listing] = len(all)
		}
		all = append(all, listing{pages: []int32{int32(i)}, revision: op.Answer.Revision})
	}
	slices.SortStableFunc(all, func(a, b listing) int { return cmp.Compare(a.revision, b.revision) })
	return all
}

// play brings the state forward to a revision.
func (c *lists) play(revision uint64) {
	for ; c.played < len(c.entries) && c.entries[c.played].revision <= revision; c.played++ {
		at := int32(c.played)
		e := &c.entries[at]
		c.count(c.current[e.key], -1)
		c.count(at, 1)
		c.current[e.key] = at
	}
}

func (c *lists) count(at, by int32) {
	if !c.present(at) {
		return
	}
	e := &c.entries[at]
	space := uint32(c.keySpace[e.key])
	c.counts[tally(space, allGroups)] += by
	c.counts[tally(allSpaces, allGroups)] += by
	if c.grouped && e.version.Group != "" {
		group := c.group(e.version.Group)
		c.counts[tally(space, group)] += by
		c.counts[tally(allSpaces, group)] += by
	}
}

func (c *lists) group(name string) uint32 {
	at, ok := c.groups[name]
	if !ok {
		at = int32(len(c.groups))
		c.groups[name] = at
	}
	return uint32(at)
}

// listGuarantee is the guarantee that a list of the kind is given.
func listGuarantee(op *history.Operation) string {
	switch {
	case op.Request.Listing != "" && op.Request.Page > 0:
		return "L5"
	case op.Request.Revision == "":
		return "L1"
	case op.Request.Revision == "0":
		return "L2"
	case op.Request.Match == "Exact":
		return "L4"
	}
	return "L3"
}

func (c *lists) judge(one listing) {
	first := &c.h.Operations[one.pages[0]]
	if first.Request.Page > 0 {
		return // the first page has no answer, so nobody knows what it began with
	}
	c.result.Checked += len(one.pages)
	c.demand(first)
	last := first
	var previous string
	s := c.scope(first.Request)
	items, good := int32(0), true
	for _, page := range one.pages {
		op := &c.h.Operations[page]
		last = op
		if op.Answer.Revision != one.revision {
			c.broke("L5", evidence{first.Invoked, op.Returned, []int64{op.Index, first.Index}, nil},
				"page %d of %s is of revision %d, the first page, from %s, of %d", op.Request.Page, call(op), op.Answer.Revision, first.Node, one.revision)
			return
		}
		if limit := op.Request.Limit; limit > 0 && len(op.Answer.Items) > limit {
			c.broke("L5", evidence{op.Invoked, op.Returned, []int64{op.Index}, nil}, "%s asked for %d items a page and got %d", call(op), limit, len(op.Answer.Items))
		}
		for j := range op.Answer.Items {
			item := &op.Answer.Items[j]
			if !c.options.own(item.Key) {
				continue
			}
			if item.Key <= previous {
				guarantee := listGuarantee(op)
				if first.Request.Listing != "" {
					guarantee = "L5"
				}
				c.broke(guarantee, evidence{op.Invoked, op.Returned, []int64{op.Index}, []string{item.Key}}, "%s holds %s after %s: keys must rise", call(op), item.Key, previous)
				return
			}
			previous = item.Key
			items++
			good = c.item(op, s, item) && good
		}
	}
	if !good {
		return
	}
	if last.Answer.More {
		c.missing(one, s, previous, false)
	} else if items != c.expected(s) {
		c.missing(one, s, previous, true)
	}
}

// demand judges the revision of a list against the one that was asked for.
func (c *lists) demand(op *history.Operation) {
	asked, err := strconv.ParseUint(op.Request.Revision, 10, 64)
	if err != nil || asked == 0 {
		return
	}
	proof := evidence{op.Invoked, op.Returned, []int64{op.Index}, nil}
	switch exact := op.Request.Match == "Exact"; {
	case exact && op.Answer.Revision != asked:
		c.broke("L4", proof, "%s asked for exactly revision %d and got %d", call(op), asked, op.Answer.Revision)
	case !exact && op.Answer.Revision < asked:
		c.broke("L3", proof, "%s asked for a state not older than revision %d and got %d", call(op), asked, op.Answer.Revision)
	}
}

// item judges one item of a list against the state that is played.
func (c *lists) item(op *history.Operation, s scope, item *history.Version) bool {
	key, ok := c.keyIndex[item.Key]
	if !ok {
		return true
	}
	at := c.current[key]
	proof := evidence{op.Invoked, op.Returned, []int64{op.Index}, []string{item.Key}}
	guarantee := listGuarantee(op)
	shows := fmt.Sprintf("%s, of revision %d, shows %s at revision %d", call(op), op.Answer.Revision, item.Key, item.Revision)
	switch {
	case item.Revision > op.Answer.Revision:
		c.broke(guarantee, proof, "%s, which is newer than the list", shows)
	case at != none && c.entries[at].revision > item.Revision:
		proof.lines = append(proof.lines, c.entries[at].line)
		if op.Request.Revision == "" && c.quiet(op) && c.lost(at) {
			guarantee = c.loss(at)
			shows = "lost: " + shows
		}
		c.broke(guarantee, proof, "%s, but %s had come after", shows, c.change(at))
	case !c.holds(s, key):
		c.broke(guarantee, proof, "%s, which is not within what was asked for (%q)", shows, op.Request.Key)
	case s.group != "" && item.Group != s.group:
		c.broke(guarantee, proof, "%s, whose group is %q and not %q as was asked for", shows, item.Group, s.group)
	default:
		return true
	}
	return false
}

// expected is how many items a list of a scope must have.
func (c *lists) expected(s scope) int32 {
	switch {
	case s.empty:
		return 0
	case s.key != none:
		if c.matches(s, c.current[s.key]) {
			return 1
		}
		return 0
	}
	space, group := uint32(allSpaces), uint32(allGroups)
	if s.space != none {
		space = uint32(s.space)
	}
	if s.group != "" {
		group = c.group(s.group)
	}
	return c.counts[tally(space, group)]
}

// missing finds what a list lacks, up to and with the key end unless it is whole.
func (c *lists) missing(one listing, s scope, end string, whole bool) {
	there := make(map[string]bool)
	for _, page := range one.pages {
		for j := range c.h.Operations[page].Answer.Items {
			there[c.h.Operations[page].Answer.Items[j].Key] = true
		}
	}
	op := &c.h.Operations[one.pages[len(one.pages)-1]]
	first := &c.h.Operations[one.pages[0]]
	guarantee := listGuarantee(op)
	for space, members := range c.members {
		if s.empty || s.space != none && s.space != int32(space) {
			continue
		}
		for _, key := range members {
			name, at := c.keys[key], c.current[key]
			if there[name] || !c.holds(s, key) || !c.matches(s, at) || c.open(key, op.Returned) || !whole && name > end {
				continue
			}
			if c.foreign(name) && !c.complete(c.entries[at].revision, one.revision) {
				continue
			}
			proof := evidence{first.Invoked, op.Returned, []int64{op.Index, c.entries[at].line}, []string{name}}
			lack := ""
			g := guarantee
			if first.Request.Revision == "" && c.quiet(first) && c.lost(at) {
				g, lack = c.loss(at), "lost: "
			}
			c.broke(g, proof, "%s%s, of revision %d, lacks %s, which was there at %s", lack, call(op), one.revision, name, c.change(at))
			return
		}
	}
}

// backwards judges that what a node answers from its own state never gets older during one life of its process.
func (c *lists) backwards() {
	if c.options.Peer {
		return
	}
	type answered struct {
		revision uint64
		op       *history.Operation
	}
	best := make(map[string]answered) // by node
	var returned []*history.Operation
	for i := range c.h.Operations {
		if op := &c.h.Operations[i]; op.F == history.List && op.Outcome == history.OK && op.Answer != nil && op.Answer.Revision > 0 && op.Request.Page == 0 && op.Request.Match != "Exact" {
			returned = append(returned, op)
		}
	}
	byReturn := slices.Clone(returned)
	slices.SortStableFunc(byReturn, func(a, b *history.Operation) int { return cmp.Compare(a.Returned, b.Returned) })
	next := 0
	for _, op := range returned {
		for ; next < len(byReturn) && byReturn[next].Returned < op.Invoked; next++ {
			if b := byReturn[next]; b.Answer.Revision > best[b.Node].revision {
				best[b.Node] = answered{b.Answer.Revision, b}
			}
		}
		before := best[op.Node]
		if op.Request.Revision == "" || before.op == nil || before.revision <= op.Answer.Revision {
			continue
		}
		if c.restarted(op.Node, before.op.Invoked, op.Returned) {
			best[op.Node] = answered{}
			continue
		}
		guarantee := "V4"
		if op.Request.Revision == "0" {
			guarantee = "L2"
		}
		c.broke(guarantee, evidence{before.op.Invoked, op.Returned, []int64{op.Index, before.op.Index}, nil},
			"%s returned the state of revision %d, after the same node had answered with revision %d at %s", call(op), op.Answer.Revision, before.revision, seconds(before.op.Returned))
	}
}

// restarted tells whether a node may have begun another life between two times.
func (c *lists) restarted(node string, from, to int64) bool {
	for i := range c.h.Windows {
		w := &c.h.Windows[i]
		if w.Start > to || w.Stop < from {
			continue
		}
		switch w.Family {
		case "partition", "packet":
		default:
			if len(w.Nodes) == 0 || slices.Contains(w.Nodes, node) {
				return true
			}
		}
	}
	return false
}
