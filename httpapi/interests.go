package httpapi

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/leasehold/leasehold/fsm"
	"github.com/leasehold/leasehold/fsm/seeded"
)

// interests wakes watches. One goroutine follows the history and rings those alone that an event may concern, so that a
// watch of one object costs nothing while others change, however many they are; the events themselves each watch reads from
// the history, by its own cursor. The goroutine runs while there is a watch and ends with the last.
//
// When many watches are rung at once, the next round waits in proportion: events that come meanwhile share one write to
// each client, and the fan-out cannot starve the writes that it tells of.
type interests struct {
	history func() *fsm.History
	present func() *fsm.State

	// position is how far the goroutine has come: every event up to it has been rung for.
	position atomic.Uint64

	mu     sync.Mutex // guards what follows
	groups map[interest]*group
	count  int
	round  uint64
	stop   chan struct{} // ends the goroutine when closed; nil while none runs
}

// interest is a set of keys that a watch may be concerned with: one object, or all of a namespace, or all of a resource.
type interest struct{ resource, namespace, name string }

func (s *selector) interest() interest {
	resource := s.kind.resource.Resource
	if s.namespace == "" {
		return interest{resource: resource}
	}
	return interest{resource, s.namespace, s.name}
}

// comingAndGoing is the interest in objects of all resources that come to be or cease to be, which is what makes
// namespaces; that they change is of none.
var comingAndGoing = interest{resource: "namespaces"}

// group is all watches of one interest.
type group struct {
	members []*watcher
	round   uint64 // in which its members have been rung
}

// watcher is a watch as the one that wakes it knows it.
type watcher struct {
	interest interest
	wake     chan struct{} // holds one ring
	next     atomic.Uint64 // revision of the first event of interest since the watch last looked; 0 for none
	lost     atomic.Bool   // events were skipped that nobody can tell any more

	// writing is when the write to the client began that has not ended yet, in nanoseconds of Unix time, or 0. abort makes
	// that write fail; it is called from another goroutine.
	writing atomic.Int64
	abort   func()

	place int // in its group's members; guarded by interests.mu
}

const (
	followBatch = 1024
	wakeCost    = 20 * time.Microsecond // roughly what one woken watch costs, the writing included
	shortPause  = 200 * time.Microsecond
	longPause   = 50 * time.Millisecond
	stallCheck  = 5 * time.Second
)

func newInterests(store Store) *interests {
	return &interests{history: store.History, present: store.State, groups: make(map[interest]*group)}
}

// join makes a watch be rung for every event that comes from now on. It must look for itself once, after joining, at
// what has come already.
func (i *interests) join(w *watcher) {
	i.mu.Lock()
	defer i.mu.Unlock()
	g := i.groups[w.interest]
	if g == nil {
		g = new(group)
		i.groups[w.interest] = g
	}
	w.place = len(g.members)
	g.members = append(g.members, w)
	i.count++
	if i.stop == nil {
		i.position.Store(i.present().Revision())
		i.stop = make(chan struct{})
		go i.follow(i.stop)
	}
}

func (i *interests) leave(w *watcher) {
	i.mu.Lock()
	defer i.mu.Unlock()
	g := i.groups[w.interest]
	last := g.members[len(g.members)-1]
	g.members[w.place], last.place = last, w.place
	g.members[len(g.members)-1] = nil
	g.members = g.members[:len(g.members)-1]
	if len(g.members) == 0 {
		delete(i.groups, w.interest)
	}
	if i.count--; i.count == 0 {
		close(i.stop)
		i.stop = nil
	}
}

func (i *interests) follow(stop chan struct{}) {
	stalls := time.NewTicker(stallCheck)
	defer stalls.Stop()
	for {
		events, more, err := i.history().After(i.position.Load(), followBatch)
		if err == nil && len(events) == 0 {
			select {
			case <-more:
			case <-stalls.C:
				i.abortStalled()
			case <-stop:
				return
			}
			continue
		}
		rung, running := i.ring(stop, events, err != nil)
		if !running {
			return
		}
		if pause := time.Duration(rung) * wakeCost; pause > shortPause {
			time.Sleep(min(pause, longPause))
		}
		select {
		case <-stalls.C:
			i.abortStalled()
		default:
		}
	}
}

// ring wakes the watches concerned and counts them. It returns false if this goroutine is not wanted any more.
func (i *interests) ring(stop chan struct{}, events []fsm.Event, gap bool) (rung int, running bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.stop != stop {
		return 0, false
	}
	if gap { // a snapshot was installed from beyond what this node's history reaches
		reached := i.present().Revision()
		for _, g := range i.groups {
			for _, w := range g.members {
				w.lost.Store(!seeded.WatchGapAfterSnapshot)
				rung += w.ring(reached)
			}
		}
		// After the rings, here too: else a bookmark could promise what was skipped.
		i.position.Store(reached)
		return rung, true
	}
	i.round++
	for at := range events {
		key := events[at].Object.Key
		revision := events[at].Revision
		rung += i.groups[interest{key.Resource, "", ""}].ring(i.round, revision)
		rung += i.groups[interest{key.Resource, key.Namespace, ""}].ring(i.round, revision)
		rung += i.groups[interest{key.Resource, key.Namespace, key.Name}].ring(i.round, revision)
		if events[at].Type != fsm.Modified {
			rung += i.groups[comingAndGoing].ring(i.round, revision)
		}
	}
	// After the rings: a watch that sees this position and no ring has seen all there is for it up to here.
	i.position.Store(events[len(events)-1].Revision)
	return rung, true
}

// ring wakes all members once in a round: its first event is where each begins to look.
func (g *group) ring(round, revision uint64) (rung int) {
	if g == nil || g.round == round {
		return 0
	}
	g.round = round
	for _, w := range g.members {
		rung += w.ring(revision)
	}
	return rung
}

func (w *watcher) ring(revision uint64) int {
	if w.next.Load() != 0 || !w.next.CompareAndSwap(0, revision) {
		return 0 // it has been rung for something earlier and has not looked yet
	}
	select {
	case w.wake <- struct{}{}:
	default:
	}
	return 1
}

// abortStalled ends the watches whose clients have not taken what was written to them for too long.
func (i *interests) abortStalled() {
	i.mu.Lock()
	defer i.mu.Unlock()
	before := time.Now().Add(-stallTimeout).UnixNano()
	for _, g := range i.groups {
		for _, w := range g.members {
			if since := w.writing.Load(); since != 0 && since < before {
				w.abort()
			}
		}
	}
}
