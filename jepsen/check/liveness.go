package check

import (
	"slices"
	"strings"

	"github.com/leasehold/leasehold/jepsen/history"
)

// judgeLiveness tells the longest time without an acknowledged write, and judges (D5) that it is bounded where a majority of
// nodes is untouched and nothing has changed about that for a while, and that no call stays without any answer.
func judgeLiveness(l *log) Result {
	r := l.reporter("liveness", "D5")
	var acks, vain []int64 // times of acknowledgements, and of calls that came to nothing
	for i := range l.h.Operations {
		op := &l.h.Operations[i]
		if op.Settled == history.Never && l.h.End-op.Invoked > l.options.Patience.Nanoseconds() {
			r.broke("D5", evidence{op.Invoked, l.h.End, []int64{op.Index}, nil}, "%s, called at %s, was never answered nor given up in %s", call(op), seconds(op.Invoked), length(l.h.End-op.Invoked))
		}
		if !writes(op.F) {
			continue
		}
		r.result.Checked++
		switch {
		case op.Outcome == history.OK:
			acks = append(acks, op.Returned)
		case op.Outcome == history.Fail && op.Answer != nil && op.Answer.Code >= 400 && op.Answer.Code < 500 && op.Answer.Code != 429:
			acks = append(acks, op.Returned) // refused by the state of the store: it is alive
		default:
			vain = append(vain, op.Invoked)
		}
	}
	slices.Sort(acks)
	if len(acks) > 0 {
		acks = append(acks, max(l.lastWrite, acks[len(acks)-1]))
	}
	minority := l.minorities()
	var worst, at int64
	for i := 1; i < len(acks); i++ {
		from, to := acks[i-1], acks[i]
		if to-from > worst {
			worst, at = to-from, from
		}
		if to-from <= l.options.Recovery.Nanoseconds() {
			continue
		}
		for _, t := range minority {
			if t > from && t <= to {
				from = t
			}
		}
		first, _ := slices.BinarySearch(vain, from)
		tried, _ := slices.BinarySearch(vain, to-l.options.Recovery.Nanoseconds())
		if to-from > l.options.Recovery.Nanoseconds() && tried > first {
			r.broke("D5", evidence{from, to, nil, nil}, "no write was acknowledged for %s from %s on although a majority of nodes was untouched and %d writes were tried", length(to-from), seconds(from), len(vain[first:]))
		}
	}
	r.result.Note = "longest time without an acknowledged write: " + length(worst)
	if worst > 0 {
		r.result.Note += " from " + seconds(at) + " on"
		if faults := l.faults(at, at+worst); len(faults) > 0 {
			r.result.Note += ", " + together(faults)
		}
	}
	return r.done()
}

// minorities are the times from which on the cluster may need to recover anew: each beginning and end of a fault, and, as
// far as it lasts, each time when faults touch as many nodes as leave no majority.
func (l *log) minorities() []int64 {
	var edges []int64
	for i := range l.h.Windows {
		w := &l.h.Windows[i]
		edges = append(edges, w.Start)
		if w.Stop != history.Never {
			edges = append(edges, w.Stop)
		}
	}
	slices.Sort(edges)
	nodes := len(l.nodes())
	var all []int64
	for i, t := range edges {
		all = append(all, t)
		touched := make(map[string]bool)
		for j := range l.h.Windows {
			if w := &l.h.Windows[j]; w.Start <= t && w.Stop > t {
				for _, node := range w.Nodes {
					touched[node] = true
				}
				if len(w.Nodes) == 0 { // the whole cluster
					for _, node := range l.nodes() {
						touched[node] = true
					}
				}
			}
		}
		if 2*(nodes-len(touched)) <= nodes {
			end := l.h.End
			if i+1 < len(edges) {
				end = edges[i+1]
			}
			all = append(all, end)
		}
	}
	slices.Sort(all)
	return all
}

// nodes are the nodes of the cluster by name.
func (l *log) nodes() []string {
	if len(l.options.Nodes) > 0 {
		return l.options.Nodes
	}
	if l.names == nil {
		seen := make(map[string]bool)
		add := func(node string) {
			if node != "" && !seen[node] {
				seen[node] = true
				l.names = append(l.names, node)
			}
		}
		for i := range l.h.Operations {
			add(l.h.Operations[i].Node)
		}
		for i := range l.h.Streams {
			add(l.h.Streams[i].Node)
		}
		slices.Sort(l.names)
	}
	return l.names
}

// judgeHeartbeats judges that leases are renewed at their period, as far as the writer's acknowledgements tell.
func judgeHeartbeats(l *log) Result {
	r := l.reporter("heartbeat", "D5")
	period := l.options.Heartbeat.Nanoseconds()
	if period <= 0 {
		r.result.Note = "no heartbeats in this run"
		return r.done()
	}
	last := make(map[int32]int64)
	missed, worst := 0, int64(0)
	for i := range l.h.Operations {
		op := &l.h.Operations[i]
		key := l.opKey[i]
		if key == none || op.Outcome != history.OK || !writes(op.F) || op.F == history.Delete || !strings.HasPrefix(l.keys[key], l.options.HeartbeatKeys) {
			continue
		}
		r.result.Checked++
		before, known := last[key]
		last[key] = op.Returned
		if !known {
			continue
		}
		gap := op.Returned - before
		worst = max(worst, gap)
		if n := (gap - period/2) / period; n > 0 {
			missed += int(n)
			if n > int64(l.options.HeartbeatMissed) {
				r.broke("D5", evidence{before, op.Returned, []int64{op.Index}, []string{l.keys[key]}}, "%s was not renewed for %s, %d renewals in a row", l.keys[key], length(gap), n)
			}
		}
	}
	r.result.Note = decimal(uint64(missed)) + " renewals missed, longest time between two " + length(worst)
	return r.done()
}
