package nemesis

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/leasehold/leasehold/jepsen/history"
)

const (
	lookEvery = 250 * time.Millisecond // between two samples of a node, where nobody says otherwise
	lookTime  = 1500 * time.Millisecond
	lookBack  = 512 // observations kept of each node
)

// observation is one try to have a node tell of itself.
type observation struct {
	node   string
	begun  time.Time
	ended  time.Time
	sample history.Sample
	err    error
}

// observer samples all nodes all the time, so that it can be told what a fault did.
type observer struct {
	target  Target
	every   time.Duration // between two samples of a node
	sampled func(node string, s history.Sample)

	mu     sync.Mutex // guards recent
	recent map[string][]observation
}

func newObserver(target Target, every time.Duration, sampled func(string, history.Sample)) *observer {
	return &observer{target: target, every: every, sampled: sampled, recent: make(map[string][]observation)}
}

// run samples until ctx ends.
func (o *observer) run(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	for _, node := range o.target.Nodes() {
		all.Go(func() {
			for ctx.Err() == nil {
				o.look(ctx, node)
				sleep(ctx, o.every)
			}
		})
	}
}

// look samples nodes now, all at once.
func (o *observer) look(ctx context.Context, nodes ...string) []observation {
	seen := make([]observation, len(nodes))
	var all sync.WaitGroup
	for i, node := range nodes {
		all.Go(func() {
			asking, cancel := context.WithTimeout(ctx, lookTime)
			defer cancel()
			seen[i] = observation{node: node, begun: time.Now()}
			seen[i].sample, seen[i].err = o.target.Sample(asking, node)
			seen[i].ended = time.Now()
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return seen // that an interrupted question has no answer says nothing about the node
	}
	o.mu.Lock()
	for _, s := range seen {
		kept := append(o.recent[s.node], s)
		o.recent[s.node] = kept[max(0, len(kept)-lookBack):]
	}
	o.mu.Unlock()
	for _, s := range seen {
		if s.err != nil && s.sample.Error == "" {
			s.sample.Error = s.err.Error()
		}
		o.sampled(s.node, s.sample)
	}
	return seen
}

// since returns the observations that were begun at t or later.
func (o *observer) since(t time.Time) []observation {
	o.mu.Lock()
	defer o.mu.Unlock()
	var seen []observation
	for _, kept := range o.recent {
		for _, s := range kept {
			if !s.begun.Before(t) {
				seen = append(seen, s)
			}
		}
	}
	return seen
}

// last returns the last observation of a node, if there is one.
func (o *observer) last(node string) (observation, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	kept := o.recent[node]
	if len(kept) == 0 {
		return observation{}, false
	}
	return kept[len(kept)-1], true
}

// lastBefore returns the last observation of a node that was over before t, if there is one.
func (o *observer) lastBefore(node string, t time.Time) (observation, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range slices.Backward(o.recent[node]) {
		if s.ended.Before(t) {
			return s, true
		}
	}
	return observation{}, false
}

// scene is what all nodes together said of themselves at one time.
type scene struct {
	leader  string // of the highest term that one claims to lead in; "" if none does
	term    uint64 // the leader's, or the highest that anyone knows
	applied uint64 // the highest
}

func sceneOf(seen []observation) scene {
	var s scene
	for _, o := range seen {
		if o.err != nil {
			continue
		}
		s.applied = max(s.applied, o.sample.Applied)
		if o.sample.Role == leading && (s.leader == "" || o.sample.Term > s.term) {
			s.leader, s.term = o.node, o.sample.Term
		}
		if s.leader == "" {
			s.term = max(s.term, o.sample.Term)
		}
	}
	return s
}

// fresh is how old an observation may be to tell of now.
const fresh = 2 * time.Second

// now returns what the last observations tell of, or asks all nodes if there are none yet.
func (o *observer) now(ctx context.Context) scene {
	recent := o.since(time.Now().Add(-fresh))
	if len(recent) == 0 {
		return sceneOf(o.look(ctx, o.target.Nodes()...))
	}
	last := make(map[string]observation)
	for _, s := range recent {
		if !s.begun.Before(last[s.node].begun) {
			last[s.node] = s
		}
	}
	return sceneOf(slices.Collect(maps.Values(last)))
}

// leading is the Role of a node that leads.
const leading = "leader"

// awaitLeader returns the scene once there is a leader, or the last one when patience is over.
func (o *observer) awaitLeader(ctx context.Context, patience time.Duration) scene {
	deadline := time.Now().Add(patience)
	for {
		s := sceneOf(o.look(ctx, o.target.Nodes()...))
		if s.leader != "" || ctx.Err() != nil || time.Now().After(deadline) {
			return s
		}
		sleep(ctx, o.every)
	}
}

// awaitReady waits until a node answers that it is ready, and returns whether it did within patience.
func (o *observer) awaitReady(ctx context.Context, node string, patience time.Duration) bool {
	deadline := time.Now().Add(patience)
	for ctx.Err() == nil {
		if s := o.look(ctx, node)[0]; s.err == nil && s.sample.Ready {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
		sleep(ctx, o.every)
	}
	return false
}

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
