package nemesis

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"time"
)

// Options say what a plan is for.
type Options struct {
	Nodes    int           // in the cluster
	Duration time.Duration // of the run; every fault ends within it
	// Interval is how long a fault lasts on average. Default 5 s.
	Interval time.Duration
	// Overlap is how many faults should be in force at once, on average. Default 2.
	Overlap float64
	// Pairs are kinds that start together each time. A kind that is in a pair may be planned alone as well.
	Pairs [][2]string
	// Target tells what can be done in its place. Without one everything can.
	Target Target
	// Bursts says that the workload takes bursts.
	Bursts bool
}

// shortest is the least time that a fault is planned for.
const shortest = 500 * time.Millisecond

// Plan makes a schedule: each kind, by name or family, is a stream of its own that turns on and off and on again, and each
// pair is one stream. The same arguments make the same schedule. What cannot be had is left out, and the schedule says why.
func Plan(seed uint64, kinds []string, o Options) (Schedule, error) {
	if o.Nodes < 1 || o.Duration <= 0 {
		return Schedule{}, fmt.Errorf("plan for %d nodes and %s", o.Nodes, o.Duration)
	}
	o.Interval = cmp.Or(o.Interval, 5*time.Second)
	o.Overlap = cmp.Or(o.Overlap, 2)
	s := Schedule{Seed: seed, Nodes: o.Nodes, Duration: Span(o.Duration)}
	streams, err := s.streams(kinds, o)
	if err != nil {
		return Schedule{}, err
	}
	for _, stream := range streams {
		s.Entries = append(s.Entries, stream.plan(seed, o, len(streams))...)
	}
	slices.SortStableFunc(s.Entries, func(a, b Entry) int { return int(a.At - b.At) })
	s.Entries = breathe(s.Entries, o.Interval)
	numbers := make(map[string]int)
	pairs := make(map[string]int)
	for i := range s.Entries {
		e := &s.Entries[i]
		numbers[e.Kind]++
		e.Index, e.Name = i, fmt.Sprintf("%s-%d", e.Kind, numbers[e.Kind])
		if e.Pair != "" {
			pairs[e.Pair]++
			e.Pair = fmt.Sprintf("%s-%d", e.Pair, (pairs[e.Pair]+1)/2) // both halves follow each other
		}
	}
	return s, nil
}

// stream is one kind, or two that start together.
type stream struct {
	name  string
	kinds []Kind
}

// streams returns what can be had of the kinds and pairs asked for, and notes the rest.
func (s *Schedule) streams(names []string, o Options) ([]stream, error) {
	var streams []stream
	fit := func(k Kind) bool {
		reason := k.unfit(o)
		if reason != "" && !slices.ContainsFunc(s.Omitted, func(x Omission) bool { return x.Kind == k.Name }) {
			s.Omitted = append(s.Omitted, Omission{k.Name, reason})
		}
		return reason == ""
	}
	kinds, err := Select(names...)
	if err != nil {
		return nil, err
	}
	for _, k := range kinds {
		if fit(k) {
			streams = append(streams, stream{k.Name, []Kind{k}})
		}
	}
	for _, pair := range o.Pairs {
		a, err := kindNamed(pair[0])
		if err != nil {
			return nil, err
		}
		b, err := kindNamed(pair[1])
		if err != nil {
			return nil, err
		}
		if fit(a) && fit(b) {
			streams = append(streams, stream{a.Name + "+" + b.Name, []Kind{a, b}})
		}
	}
	return streams, nil
}

// plan draws the entries of a stream. Times between are such that all streams together keep to the overlap that is wished for.
func (t stream) plan(seed uint64, o Options, streams int) []Entry {
	r := source(seed, t.name)
	on := o.Interval
	if lowest := t.kinds[0].Shortest; lowest > on {
		on = lowest
	}
	share := min(0.5, o.Overlap/float64(streams*len(t.kinds)))
	off := time.Duration(float64(on) * (1/share - 1))
	var entries []Entry
	// The first strikes come early, at any moment of a whole turn, so that a short run has every kind as likely as a long one.
	for at := time.Duration(r.Float64() * float64(min(on+off, o.Duration/2))); ; {
		longest := time.Duration(0)
		for _, k := range t.kinds {
			e := Entry{Kind: k.Name, At: Span(at.Round(time.Millisecond)), Choice: t.choose(r, seed, k, o.Nodes)}
			if len(t.kinds) > 1 {
				e.Pair = t.name
			}
			lasts := max(about(r, o.Interval), k.Shortest)
			if k.Longest > 0 {
				lasts = min(lasts, k.Longest)
			}
			e.For = Span(lasts.Round(time.Millisecond))
			longest = max(longest, lasts)
			entries = append(entries, e)
		}
		if at+longest > o.Duration {
			return t.clip(entries, o.Duration)
		}
		at += longest + about(r, off)
	}
}

// clip ends the last turn of the stream with the run, or drops it where that leaves too little of a fault.
func (t stream) clip(entries []Entry, end time.Duration) []Entry {
	whole := len(entries) - len(t.kinds)
	for i, k := range t.kinds {
		e := &entries[whole+i]
		room := Span(end) - e.At
		if room < Span(max(shortest, k.Shortest)) {
			return entries[:whole]
		}
		e.For = min(e.For, room)
	}
	return entries
}

// breathe leaves out, of the faults that stop all work, those that come too soon after another: it takes a while until there is
// a leader again, for other faults to find, and work for them to disturb. So with those that damage files: it is always a
// node of the same minority that has to be well again. A pair is left as it is.
func breathe(entries []Entry, pause time.Duration) []Entry {
	kinds := make(map[string]Kind)
	for _, k := range Kinds() {
		kinds[k.Name] = k
	}
	dropped := make(map[int]bool)
	apart(entries, dropped, pause, func(e Entry) bool { return kinds[e.Kind].Stops && e.Pair == "" })
	apart(entries, dropped, giveBackTime, func(e Entry) bool { return kinds[e.Kind].Harms && e.Pair == "" })
	kept := make([]Entry, 0, len(entries))
	for i, e := range entries {
		if !dropped[i] {
			kept = append(kept, e)
		}
	}
	return kept
}

// apart drops entries so that those concerned have a pause between them. Of two that are too close it is the second, or the first
// if its kind has had its turn more often.
func apart(entries []Entry, dropped map[int]bool, pause time.Duration, concerned func(Entry) bool) {
	turns := make(map[string]int)
	last := -1
	for i, e := range entries {
		if !concerned(e) {
			continue
		}
		if last >= 0 && e.At < entries[last].At+entries[last].For+Span(pause) {
			if turns[entries[last].Kind] <= turns[e.Kind]+1 {
				dropped[i] = true
				continue
			}
			dropped[last] = true
			turns[entries[last].Kind]--
		}
		last = i
		turns[e.Kind]++
	}
}

// giveBackTime is about what it takes to give a node its files back.
const giveBackTime = 3 * time.Second

// choose draws all that an entry leaves to chance.
func (t stream) choose(r *rand.Rand, seed uint64, k Kind, nodes int) Choice {
	c := Choice{Order: r.Perm(nodes), Seed: r.Uint64()}
	if k.Harms {
		// One minority, the same in all streams and turns, comes first.
		victims := source(seed, "victims").Perm(nodes)[:minority(nodes)]
		harmed := func(n int) bool { return slices.Contains(victims, n) }
		c.Order = append(filter(c.Order, harmed), filter(c.Order, func(n int) bool { return !harmed(n) })...)
	}
	if k.draw != nil {
		k.draw(r, &c)
	}
	return c
}

func filter(numbers []int, keep func(int) bool) []int {
	var kept []int
	for _, n := range numbers {
		if keep(n) {
			kept = append(kept, n)
		}
	}
	return kept
}

// minority is the most nodes that a cluster can do without.
func minority(nodes int) int { return (nodes - 1) / 2 }

// about draws a time between a half and one and a half of d.
func about(r *rand.Rand, d time.Duration) time.Duration {
	return d/2 + time.Duration(r.Float64()*float64(d))
}

// within draws a time between two.
func within(r *rand.Rand, least, most time.Duration) Span {
	return Span((least + time.Duration(r.Float64()*float64(most-least))).Round(time.Millisecond))
}

// source returns a source of chance that depends on the seed and a name alone.
func source(seed uint64, name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}
