package jepsen

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/leasehold/leasehold/jepsen/check"
	"github.com/leasehold/leasehold/jepsen/history"
	"github.com/leasehold/leasehold/jepsen/ledger"
)

func at(seconds float64) int64 { return int64(seconds * float64(time.Second)) }

func window(kind string, number string, start, stop float64, nodes ...string) history.Window {
	return history.Window{Kind: kind, Fault: history.Fault{Name: kind + number, Nodes: nodes, Effect: "felt"}, Start: at(start), Stop: at(stop)}
}

func write(node string, invoked, returned float64, outcome history.Type) history.Operation {
	op := history.Operation{F: history.Update, Node: node, Outcome: outcome, Invoked: at(invoked), Returned: at(returned), Settled: at(returned), Request: &history.Request{}}
	if outcome == history.Info {
		op.Returned = history.Never
	}
	return op
}

func TestFailoverIsTheTimeToTheFirstWriteThatWasCalledAfterTheKill(t *testing.T) {
	h := &history.History{
		Windows: []history.Window{window("kill-leader", "-1", 10, 15)},
		Operations: []history.Operation{
			write("n1", 9.9, 10.1, history.OK), // called before: it may have been answered by the leader that died
			write("n2", 10.2, 11.4, history.OK),
			write("n2", 10.3, 11.1, history.OK),
			write("n2", 12, 12.1, history.OK),
		},
	}
	f := measure(h, check.Report{})
	assert.Equal(t, 1.0, f[ledger.FailoverKills])
	assert.InDelta(t, 1.1, f[ledger.FailoverMedian], 1e-6)

	h.Windows = append(h.Windows, window("delay", "-1", 10.5, 11))
	assert.NotContains(t, measure(h, check.Report{}), ledger.FailoverMedian, "two faults at once: nobody can tell whose time it is")
}

func TestARestartIsMeasuredAtTheOtherNodes(t *testing.T) {
	h := &history.History{
		Windows: []history.Window{window("restart-one", "-1", 10, 11, "n1")},
		Operations: []history.Operation{
			write("n1", 10.1, 10.2, history.Info), // at the node itself
			write("n2", 10.1, 10.3, history.OK),
			write("n2", 10.4, 10.8, history.OK),
			write("n3", 10.1, 10.5, history.Info),
			write("n2", 12, 12.1, history.Info), // later
		},
	}
	f := measure(h, check.Report{})
	assert.Equal(t, 1.0, f[ledger.Restarts])
	assert.Equal(t, 1.0, f[ledger.RestartFailed])
	assert.InDelta(t, 0.5, f[ledger.RestartGap], 1e-6)
}

func TestNodesAreLevelOnceAllHaveWhatAnyHadWhenThePartitionEnded(t *testing.T) {
	probe := func(node string, t float64, revision uint64) history.Event {
		return history.Event{Type: history.Probe, Node: node, Time: at(t), Sample: &history.Sample{Revision: revision}}
	}
	h := &history.History{
		End:     at(50),
		Windows: []history.Window{window("partition-one", "-1", 10, 20, "n2")},
		Samples: []history.Event{probe("n1", 19, 1050), probe("n2", 19, 1000), probe("n1", 20.5, 1060), probe("n2", 20.5, 1049), probe("n2", 21, 1055)},
	}
	f := measure(h, check.Report{})
	assert.Equal(t, 1.0, f[ledger.Heals])
	assert.InDelta(t, 1, f[ledger.HealWorst], 1e-6)

	h.Samples = h.Samples[:4]
	assert.InDelta(t, 30, measure(h, check.Report{})[ledger.HealWorst], 1e-6, "they never were")
}

func TestLossesAreCountedByTheFindingsAndNotByTheFaults(t *testing.T) {
	h := &history.History{Windows: []history.Window{window("power-loss-all", "-1", 1, 2), window("kill-all", "-1", 3, 4), window("kill-all", "-2", 5, 6), window("kill-all", "-3", 7, 8)}}
	h.Windows[3].Effect = "" // all were down already
	f := measure(h, check.Report{Results: []check.Result{{Findings: []check.Finding{{Guarantee: "D1", Verdict: check.Broken}, {Guarantee: "D1", Verdict: check.Unknown}}}}})
	assert.Equal(t, 1.0, f[ledger.PowerLosses])
	assert.Equal(t, 2.0, f[ledger.KillsOfAll])
	assert.Equal(t, 1.0, f[ledger.LostWrites])
	assert.Equal(t, "acknowledged writes lost: 1; kills of all nodes: 2; power losses of all nodes: 1", f.String())
}

func TestAHolderThatNobodyDisturbedAndLostItsLeaseIsCounted(t *testing.T) {
	belief := func(kind history.Type, elector string, t float64, disturbed bool) history.Event {
		return history.Event{Type: kind, Process: elector, Tenure: &history.Tenure{At: at(t), Disturb: disturbed}}
	}
	h := &history.History{
		Windows: []history.Window{window("pause-one", "-1", 1, 100)},
		Tenures: []history.Event{belief(history.Lead, "a", 1, false), belief(history.Yield, "a", 50, false), belief(history.Lead, "b", 2, true),
			belief(history.Yield, "b", 60, true), belief(history.Lead, "a", 70, false), belief(history.Yield, "a", 120, false)},
	}
	f := measure(h, check.Report{})
	assert.Equal(t, 2.0, f[ledger.Electors])
	assert.Equal(t, 1.0, f[ledger.HoldersLost], "not the one that was disturbed, nor the end of the run")
}
