package nemesis

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/leasehold/leasehold/jepsen/history"
)

// standstill is how long a node's applied index must not move, while another's does, to say that it stood still.
const standstill = 700 * time.Millisecond

// firstOf returns what the first proof that finds something says.
func firstOf(proofs ...func(*attack) string) func(*attack) string {
	return func(a *attack) string {
		for _, proof := range proofs {
			if effect := proof(a); effect != "" {
				return effect
			}
		}
		return ""
	}
}

// silent says that every node struck at was asked and never answered.
func silent(a *attack) string {
	asked := 0
	for _, node := range a.nodes {
		answers, failures := 0, 0
		for _, o := range a.seen(node) {
			if o.err == nil {
				answers++
			} else {
				failures++
			}
		}
		if answers > 0 || failures == 0 {
			return ""
		}
		asked += failures
	}
	return fmt.Sprintf("%s did not answer (asked %d times)", strings.Join(a.nodes, ", "), asked)
}

// anySilent says which of the nodes struck at answered before and then did not at some time.
func anySilent(a *attack) string {
	var quiet []string
	for _, node := range a.nodes {
		if before, ok := a.observer.lastBefore(node, a.struck); !ok || before.err != nil {
			continue // that it does not answer is nothing new
		}
		if slices.ContainsFunc(a.seen(node), func(o observation) bool { return o.err != nil }) {
			quiet = append(quiet, node)
		}
	}
	if len(quiet) == 0 {
		return ""
	}
	return "no answer for a time from " + strings.Join(quiet, ", ")
}

// anySlow says which of the nodes struck at answered later than usual. It needs a delay on the way of the harness itself.
func anySlow(a *attack) string {
	for _, node := range a.nodes {
		for _, o := range a.seen(node) {
			if took := o.ended.Sub(o.begun); o.err == nil && took >= time.Duration(a.Delay) {
				return fmt.Sprintf("%s took %s to answer", node, took.Round(time.Millisecond))
			}
		}
	}
	return ""
}

// newLeader says that another leads than before, or in a later term.
func newLeader(a *attack) string {
	if a.before.leader == "" {
		return ""
	}
	var now observation
	for _, o := range a.observer.since(a.struck) {
		if o.err == nil && o.sample.Role == leading && o.sample.Term > max(a.before.term, now.sample.Term) {
			now = o
		}
	}
	if now.node == "" {
		return ""
	}
	return fmt.Sprintf("%s came to lead in term %d, after %s in term %d", now.node, now.sample.Term, a.before.leader, a.before.term)
}

// noLeader says that a node that knew of a leader before no longer did, or that the one that led did no longer.
func noLeader(a *attack) string {
	if a.before.leader == "" {
		return ""
	}
	for _, o := range a.observer.since(a.struck) {
		if o.err != nil || o.sample.Role == leading {
			continue
		}
		if o.node == a.before.leader {
			return fmt.Sprintf("%s led no longer, was %s in term %d", o.node, o.sample.Role, o.sample.Term)
		}
		if before, ok := a.observer.lastBefore(o.node, a.struck); o.sample.Leader == "" && ok && before.err == nil && before.sample.Leader != "" {
			return fmt.Sprintf("%s knew of no leader, was %s in term %d", o.node, o.sample.Role, o.sample.Term)
		}
	}
	return ""
}

// unready says which of the nodes struck at were ready before and answered then that they were not.
func unready(a *attack) string {
	var not []string
	for _, node := range a.nodes {
		if before, ok := a.observer.lastBefore(node, a.struck); !ok || before.err != nil || !before.sample.Ready {
			continue // that it is not ready is nothing new
		}
		if slices.ContainsFunc(a.seen(node), func(o observation) bool { return o.err == nil && !o.sample.Ready }) {
			not = append(not, node)
		}
	}
	if len(not) == 0 {
		return ""
	}
	return "no longer ready: " + strings.Join(not, ", ")
}

// stoodStill says which of the nodes struck at applied nothing while others did, and had applied something before.
func stoodStill(a *attack) string {
	for _, node := range a.nodes {
		if a.stuckBefore(node) {
			continue
		}
		var first, last history.Sample
		var from, to time.Time
		for _, o := range a.seen(node) {
			switch {
			case o.err != nil:
			case from.IsZero() || o.sample.Applied != last.Applied:
				first, last, from, to = o.sample, o.sample, o.begun, o.begun
			default:
				last, to = o.sample, o.begun
			}
		}
		if from.IsZero() || to.Sub(from) < standstill {
			continue
		}
		var ahead uint64
		for _, o := range a.observer.since(from) {
			if o.err == nil && o.begun.Before(to) {
				ahead = max(ahead, o.sample.Applied)
			}
		}
		if ahead > first.Applied {
			return fmt.Sprintf("%s stood still at %d while others went on to %d", node, first.Applied, ahead)
		}
	}
	return ""
}

// stuckBefore says that a node was not seen to apply anything right before the fault struck.
func (a *attack) stuckBefore(node string) bool {
	var applied []uint64
	for _, o := range a.observer.since(a.struck.Add(-fresh)) {
		if o.node == node && o.err == nil && o.ended.Before(a.struck) {
			applied = append(applied, o.sample.Applied)
		}
	}
	return len(applied) > 1 && slices.Min(applied) == slices.Max(applied)
}

// slowCalls says that clients waited longer than on a calm day, by half of the delay or more.
func slowCalls(a *attack) string {
	now := a.hooks.Meter.Read()
	mean, n := now.mean(a.read)
	if n == 0 || now.Calm == 0 || a.Delay == 0 || mean < now.Calm+time.Duration(a.Delay)/2 {
		return ""
	}
	return fmt.Sprintf("calls took %s, when calm %s", mean.Round(time.Millisecond), now.Calm.Round(time.Millisecond/10))
}

// lostCalls says how many calls to the nodes struck at had no answer.
func lostCalls(a *attack) string {
	now, lost := a.hooks.Meter.Read(), int64(0)
	for _, node := range a.nodes {
		lost += now.Lost[node] - a.read.Lost[node]
	}
	if lost == 0 {
		return ""
	}
	return fmt.Sprintf("%d calls to %s had no answer", lost, strings.Join(a.nodes, ", "))
}

// disturbance is what trouble between nodes does, the plainest proof first.
func disturbance(a *attack) string {
	return firstOf(newLeader, unready, noLeader, stoodStill, anySilent, slowCalls, lostCalls)(a)
}

// seen are the observations of a node that were begun after the fault struck, in order.
func (a *attack) seen(node string) []observation {
	all := a.observer.since(a.struck)
	all = slices.DeleteFunc(all, func(o observation) bool { return o.node != node })
	slices.SortStableFunc(all, func(x, y observation) int { return x.begun.Compare(y.begun) })
	return all
}

// names joins the keys of a set.
func names(set map[string]bool) string {
	return strings.Join(slices.Sorted(maps.Keys(set)), ", ")
}
