package jepsen

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/leasehold/leasehold/jepsen/check"
	"github.com/leasehold/leasehold/jepsen/history"
	"github.com/leasehold/leasehold/jepsen/ledger"
)

// Figures are what a run measured, by the names that the ledger has for them: counts, and times in seconds. They are told,
// and no verdict depends on them.
type Figures map[string]float64

// measure takes the figures of a history. Only faults that struck alone are measured, so that each time has one cause.
func measure(h *history.History, verdict check.Report) Figures {
	f := make(Figures)
	acked := acknowledgements(h)
	var failovers []float64
	for i := range h.Windows {
		w := &h.Windows[i]
		if w.Error != "" || w.Effect == "" || w.Stop == history.Never {
			continue // not done, or not felt
		}
		switch {
		case w.Kind == "power-loss-all":
			f[ledger.PowerLosses]++
		case w.Kind == "kill-all":
			f[ledger.KillsOfAll]++
		case w.Kind == "kill-leader" && w.Detail["leader"] == "" && alone(h, w, time.Second):
			if took, ok := nextWrite(acked, w.Start); ok {
				failovers = append(failovers, took.Seconds())
			}
		case w.Kind == "restart-one" && alone(h, w, 0):
			failed, gap := others(h, w)
			f[ledger.Restarts]++
			f[ledger.RestartFailed] += float64(failed)
			f[ledger.RestartGap] = max(f[ledger.RestartGap], gap.Seconds())
		case strings.HasPrefix(w.Kind, "partition-") && w.Kind != "partition-client" && alone(h, w, 5*time.Second):
			f[ledger.Heals]++
			f[ledger.HealWorst] = max(f[ledger.HealWorst], levelled(h, w.Stop).Seconds())
		}
	}
	if n := len(failovers); n > 0 {
		slices.Sort(failovers)
		f[ledger.FailoverKills], f[ledger.FailoverMedian], f[ledger.FailoverWorst] = float64(n), failovers[n/2], failovers[n-1]
	}
	if f[ledger.PowerLosses]+f[ledger.KillsOfAll] > 0 {
		f[ledger.LostWrites] = float64(broken(verdict, "D1"))
	}
	if electors := electors(h); electors > 0 {
		f[ledger.Electors] = float64(electors)
		f[ledger.ElectorHours] = time.Duration(h.End).Hours()
		f[ledger.Overlaps] = float64(broken(verdict, "E1", "E2"))
		f[ledger.HoldersLost] = float64(holdersLost(h))
	}
	return f
}

// broken counts the findings that say that one of some guarantees was broken.
func broken(verdict check.Report, guarantees ...string) int {
	n := 0
	for _, result := range verdict.Results {
		for _, f := range result.Findings {
			if f.Verdict == check.Broken && slices.Contains(guarantees, f.Guarantee) {
				n++
			}
		}
	}
	return n
}

// electors counts those that ever led.
func electors(h *history.History) int {
	names := make(map[string]bool)
	for _, e := range h.Tenures {
		names[e.Process] = true
	}
	return len(names)
}

// holdersLost counts the times that an elector lost its lease which nobody had disturbed, while clients were at work.
func holdersLost(h *history.History) int {
	end := int64(0)
	for i := range h.Windows {
		if h.Windows[i].Stop != history.Never {
			end = max(end, h.Windows[i].Stop)
		}
	}
	lost := 0
	for _, e := range h.Tenures {
		if e.Type == history.Yield && !e.Tenure.Disturb && e.Tenure.At < end {
			lost++
		}
	}
	return lost
}

// String tells the figures in one line, "" if there are none.
func (f Figures) String() string {
	var told []string
	for _, name := range slices.Sorted(maps.Keys(f)) {
		told = append(told, fmt.Sprintf("%s: %s", name, strconv.FormatFloat(math.Round(1000*f[name])/1000, 'f', -1, 64)))
	}
	return strings.Join(told, "; ")
}

// alone tells whether no other fault was in force during a window and for some time before and after.
func alone(h *history.History, w *history.Window, around time.Duration) bool {
	for i := range h.Windows {
		other := &h.Windows[i]
		if other.Name != w.Name && other.Start < w.Stop+around.Nanoseconds() && (other.Stop == history.Never || other.Stop > w.Start-around.Nanoseconds()) {
			return false
		}
	}
	return true
}

// ack is an acknowledged write.
type ack struct{ invoked, returned int64 }

// acknowledgements are all acknowledged writes, by the time of their call.
func acknowledgements(h *history.History) []ack {
	var acked []ack
	for i := range h.Operations {
		op := &h.Operations[i]
		if op.Outcome == history.OK && op.F != history.Get && op.F != history.List {
			acked = append(acked, ack{op.Invoked, op.Returned})
		}
	}
	return acked
}

// nextWrite is how long after a time the first write was acknowledged that was called after it.
func nextWrite(acked []ack, after int64) (time.Duration, bool) {
	first := int64(history.Never)
	for _, a := range acked[sort.Search(len(acked), func(i int) bool { return acked[i].invoked >= after }):] {
		if a.invoked > first {
			break
		}
		first = min(first, a.returned)
	}
	return time.Duration(first - after), first != history.Never
}

// others counts the requests at nodes to which a fault was not done that failed during it for want of a cluster, and
// measures the longest time in which none of those nodes answered.
func others(h *history.History, w *history.Window) (failed int, longest time.Duration) {
	last := make(map[string]int64)
	for i := range h.Operations {
		op := &h.Operations[i]
		if slices.Contains(w.Nodes, op.Node) || op.Settled < w.Start || op.Invoked > w.Stop {
			continue
		}
		if op.Outcome == history.Info || op.Outcome == history.Fail && (op.Answer == nil || op.Answer.Code == 0 || op.Answer.Code >= 500) {
			failed++
		}
	}
	returned := make(map[string][]int64)
	for i := range h.Operations {
		op := &h.Operations[i]
		if op.Outcome == history.OK && !slices.Contains(w.Nodes, op.Node) && op.Returned >= w.Start && op.Returned <= w.Stop {
			returned[op.Node] = append(returned[op.Node], op.Returned)
		}
	}
	for node, times := range returned {
		slices.Sort(times)
		last[node] = w.Start
		for _, t := range append(times, w.Stop) {
			longest = max(longest, time.Duration(t-last[node]))
			last[node] = t
		}
	}
	return failed, longest
}

// levelled is how long after a time all nodes said that they had applied what any of them had then, or, if one never did, how
// long the history went on.
func levelled(h *history.History, after int64) time.Duration {
	target := uint64(0)
	nodes := make(map[string]int64)
	for _, e := range h.Samples {
		if e.Sample == nil {
			continue
		}
		nodes[e.Node] = history.Never
		if e.Time <= after {
			target = max(target, e.Sample.Revision)
		}
	}
	worst := int64(0)
	for _, e := range h.Samples {
		if e.Sample != nil && e.Time > after && e.Sample.Error == "" && e.Sample.Revision >= target && nodes[e.Node] == history.Never {
			nodes[e.Node] = e.Time
		}
	}
	for _, at := range nodes {
		worst = max(worst, min(at, h.End)-after)
	}
	return time.Duration(worst)
}
