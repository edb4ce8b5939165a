package check_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leasehold/leasehold/jepsen/check"
	"github.com/leasehold/leasehold/jepsen/history"
)

// Each history looks suspicious and is right.
var good = []struct {
	what string
	tell func(*story)
}{
	{"nothing happened", func(*story) {}},
	{"a read under way while a write is may show either state", func(s *story) {
		s.create("a/x", "w1", 1001)
		p := s.call(history.Update, "node-1", history.Request{Key: "a/x", ID: "w2", Revision: "1001"})
		old, next := s.call(history.Get, "node-1", history.Request{Key: "a/x"}), s.call(history.Get, "node-2", history.Request{Key: "a/x"})
		first := s.see(1001)
		s.ok(p, history.Answer{Version: s.made("a/x", "w2", 1002)})
		s.ok(next, history.Answer{Version: s.see(1002)})
		s.ok(old, history.Answer{Version: first})
	}},
	{"a write without an answer takes effect when it is next seen", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.info(s.call(history.Update, "node-1", history.Request{Key: "a/x", ID: "w2", Revision: "1001"}))
		s.get("node-2", "a/x", 1001)
		s.made("a/x", "w2", 1002)
		s.get("node-2", "a/x", 1002)
		s.fail(s.call(history.Update, "node-1", history.Request{Key: "a/x", ID: "w3", Revision: "1001"}), 409, "Conflict")
	}},
	{"a write without an answer never takes effect", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.info(s.call(history.Update, "node-1", history.Request{Key: "a/x", ID: "w2", Revision: "1001"}))
		s.get("node-2", "a/x", 1001)
		s.update("a/x", "w3", 1001, 1002)
	}},
	{"a delete without an answer may be why an object is not there", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.info(s.call(history.Delete, "node-1", history.Request{Key: "a/x", ID: "w2"}))
		s.missing("node-2", "a/x")
		s.list("node-2", everything, 1002)
		s.fail(s.call(history.Patch, "node-2", history.Request{Key: "a/x", ID: "w3", Revision: "1001"}), 404, "NotFound")
	}},
	{"an object is deleted and made again between two looks", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.delete("a/x", "w2", 1002)
		s.create("a/x", "w3", 1003)
		s.get("node-2", "a/x", 1003)
		s.fail(s.call(history.Create, "node-2", history.Request{Key: "a/x", ID: "w4"}), 409, "AlreadyExists")
		s.watch("node-1", from(1000), "A:1001", "D:1002", "A:1003")
	}},
	{"a watch from the present ends with an error before it has told of which revision it began", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.create("a/y", "w2", 1002)
		s.delete("a/x", "w3", 1003)
		s.watch("node-2", from(1000), "A:1001", "A:1002", "D:1003")
		p := s.call(history.Watch, "node-1", everything)
		s.ok(p, history.Answer{})
		s.deliver(p, "A:1002")
		s.line(history.Event{Process: p, Type: history.Seen, Change: &history.Change{Type: "ERROR", Code: 410, Reason: "Expired"}})
		s.line(history.Event{Process: p, Type: history.End, Note: history.EndedByError})
	}},
	{"nobody watches what is deleted", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.delete("a/x", "w2", 1002)
		s.missing("node-2", "a/x")
		s.list("node-2", everything, 1002)
		s.create("a/x", "w3", 1003)
		s.list("node-2", everything, 1003, 1003)
	}},
	{"PUT creates what is not there, whatever version it names", func(s *story) {
		s.ok(s.call(history.Put, "node-1", history.Request{Key: "a/x", ID: "w1"}), history.Answer{Code: 201, Version: s.made("a/x", "w1", 1001)})
		s.fail(s.call(history.Put, "node-1", history.Request{Key: "a/x", ID: "w2"}), 422, "Invalid")
		s.delete("a/x", "w3", 1002)
		s.ok(s.call(history.Update, "node-1", history.Request{Key: "a/x", ID: "w4", Revision: "1001"}), history.Answer{Code: 201, Version: s.made("a/x", "w4", 1003)})
		s.watch("node-1", from(1000), "A:1001", "D:1002", "A:1003")
	}},
	{"a write that changes nothing changes nothing", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.ok(s.call(history.Update, "node-1", history.Request{Key: "a/x", ID: "w1", Same: true, Revision: "1001"}), history.Answer{Version: s.see(1001)})
		s.watch("node-1", from(1000), "A:1001", "B:1001")
	}},
	{"old reads were asked for", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.update("a/x", "w2", 1001, 1002)
		s.ok(s.call(history.Get, "node-2", history.Request{Key: "a/x", Revision: "0"}), history.Answer{Version: s.see(1001)})
		s.list("node-2", history.Request{Revision: "0"}, 1001, 1001)
		s.list("node-3", history.Request{Revision: "1001", Match: "NotOlderThan"}, 1002, 1002)
		s.list("node-3", history.Request{Revision: "1001", Match: "Exact"}, 1001, 1001)
	}},
	{"a node that was killed goes back in what it answers from cache", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.create("a/y", "w2", 1002)
		s.list("node-2", history.Request{Revision: "0"}, 1002, 1001, 1002)
		s.fault("kill", "kill-1", "node-2", true)
		s.fault("kill", "kill-1", "node-2", false)
		s.list("node-2", history.Request{Revision: "0"}, 1001, 1001)
	}},
	{"pages keep to the first page's state", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.create("a/y", "w2", 1002)
		s.ok(s.call(history.List, "node-1", history.Request{Listing: "l1", Limit: 1}), s.page(1002, true, 1001))
		s.create("a/z", "w3", 1003)
		s.ok(s.call(history.List, "node-2", history.Request{Listing: "l1", Limit: 5, Page: 1}), s.page(1002, false, 1002))
	}},
	{"a list ends with Expired", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.create("a/y", "w2", 1002)
		s.ok(s.call(history.List, "node-1", history.Request{Listing: "l1", Limit: 1}), s.page(1002, true, 1001))
		s.fail(s.call(history.List, "node-2", history.Request{Listing: "l1", Limit: 5, Page: 1}), 410, "Expired")
	}},
	{"a selection is entered, changed within, and left by change and by deletion", func(s *story) {
		s.grouped("a/x", "w1", "blue", 0, 1001)
		s.grouped("a/x", "w2", "red", 1001, 1002)
		s.grouped("a/x", "w3", "red", 1002, 1003)
		s.grouped("a/x", "w4", "blue", 1003, 1004)
		s.grouped("a/x", "w5", "red", 1004, 1005)
		s.delete("a/x", "w6", 1006)
		red := history.Request{Revision: "1000", Group: "red"}
		s.watch("node-1", red, "A:1002", "M:1003", "D:1004", "A:1005", "D:1006")
		s.watch("node-2", from(1000), "A:1001", "M:1002", "M:1003", "M:1004", "M:1005", "D:1006")
	}},
	{"a stream begins with the state and goes on", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.create("a/y", "w2", 1002)
		s.update("a/x", "w3", 1001, 1003)
		p := s.call(history.Watch, "node-1", history.Request{Initial: true, Bookmark: true, Match: "NotOlderThan"})
		q := s.call(history.Watch, "node-2", history.Request{})
		r := s.call(history.Watch, "node-3", history.Request{Revision: "0"})
		for _, p := range []string{p, q, r} {
			s.ok(p, history.Answer{})
		}
		s.deliver(p, "A:1003", "A:1002", "I:1003")
		s.deliver(q, "A:1003", "A:1002")
		s.deliver(r, "A:1001")
		s.create("a/z", "w4", 1004)
		s.deliver(p, "A:1004", "B:1004")
		s.deliver(q, "A:1004", "B:1004")
		s.deliver(r, "A:1002", "M:1003", "A:1004")
	}},
	{"a stream ends without the tail, with Expired, or waits for the future", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.create("a/y", "w2", 1002)
		s.create("a/z", "w3", 1003)
		s.watch("node-1", from(1000), "A:1001", "A:1002")
		p := s.call(history.Watch, "node-1", from(1000))
		s.ok(p, history.Answer{})
		s.deliver(p, "A:1001")
		s.line(history.Event{Process: p, Type: history.Seen, Change: &history.Change{Type: "ERROR", Code: 410, Reason: "Expired"}})
		s.fail(s.call(history.Watch, "node-1", from(1000)), 410, "Expired")
		q := s.call(history.Watch, "node-2", from(1004))
		s.ok(q, history.Answer{})
		s.create("b/x", "w4", 1004)
		s.create("b/y", "w5", 1005)
		s.deliver(q, "A:1005")
	}},
	{"a holder releases and takes again", func(s *story) {
		s.held("a", 0, 0, 1001)
		s.held("a", 0, 1001, 1002)
		s.held("", 0, 1002, 1003)
		s.held("b", 1, 1003, 1004)
		s.held("a", 2, 1004, 1005)
		s.lead("e1", "a/x", "a", 1)
		s.yield("e1", "a/x", "a", 2)
		s.lead("e2", "a/x", "b", 3)
	}},
	{"electors overlap of whom one was paused", func(s *story) {
		s.line(history.Event{Process: "e1", Type: history.Lead, Tenure: &history.Tenure{Key: "a/x", Holder: "a", At: 1000, Disturb: true}})
		s.lead("e2", "a/x", "b", 2000)
		s.yield("e1", "a/x", "a", 3000)
		s.yield("e2", "a/x", "b", 4000)
	}},
	{"appends come one by one", func(s *story) {
		s.appended("a/x", "w1", "e1", 1001, "e1")
		s.appended("a/x", "w2", "e2", 1002, "e1", "e2")
		s.get("node-2", "a/x", 1002)
	}},
	{"a fault that never ends leaves open what became of a delete", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.fault("pause", "pause-1", "node-1", true)
		s.info(s.call(history.Delete, "node-1", history.Request{Key: "a/x", ID: "w2"}))
		s.wait(20_000)
		s.list("node-2", everything, 1001, 1001)
		s.watch("node-2", from(1000), "A:1001", "B:1001")
		s.missing("node-2", "a/x")
	}},
	{"the server is slow to write while a majority is harmed", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.fault("kill", "kill-all-1", "", true)
		for i := range 10 {
			s.info(s.call(history.Create, "node-1", history.Request{Key: "b/x", ID: "i" + text(uint64(i))}))
			s.wait(10_000)
		}
		s.fault("kill", "kill-all-1", "", false)
		s.create("a/y", "w2", 1002)
	}},
}

// fault begins or ends a fault that is felt.
func (s *story) fault(kind, name, node string, begins bool) {
	e := history.Event{Process: "nemesis", Type: history.Start, F: kind, Fault: &history.Fault{Name: name, Family: kind}}
	if node != "" {
		e.Fault.Nodes = []string{node}
	}
	if !begins {
		e.Type, e.Fault.Effect = history.Stop, "it was felt"
	}
	s.line(e)
}

func TestGoodHistoriesPass(t *testing.T) {
	for _, g := range good {
		t.Run(g.what, func(t *testing.T) {
			s := newStory(t)
			g.tell(s)
			report := check.Judge(s.history(), check.Options{})
			assert.Empty(t, broken(report), sentences(report))
			if assert.NotEqual(t, check.Broken, report.Verdict) && report.Verdict == check.Pass {
				assert.Contains(t, report.Sentence, "no guarantee was broken")
			}
		})
	}
}

func TestAFindingNamesTheFaultsInForce(t *testing.T) {
	s := newStory(t)
	s.create("a/x", "w1", 1001)
	s.fault("partition", "partition-leader-3", "node-1", true)
	s.update("a/x", "w2", 1001, 1002)
	s.get("node-1", "a/x", 1001)
	s.fault("partition", "partition-leader-3", "node-1", false)
	s.create("a/y", "w3", 1003)
	report := check.Judge(s.history(), check.Options{})
	_, first := report.First()
	assert.Equal(t, []string{"partition-leader-3"}, first.Faults)
	assert.Contains(t, report.Sentence, "register.O5: get a/x by process 3 at node-1 returned revision 1001")
	assert.Contains(t, report.Sentence, "during partition-leader-3")
	assert.Equal(t, int64(6), first.Lines[0], "the read's call is the decisive line")
}

func TestARunThatShowsNothingIsInvalid(t *testing.T) {
	options := map[string]check.Options{
		"too few operations":                {MinOperations: 100},
		"too few acknowledged writes":       {MinAcked: 100},
		"no fault at all":                   {NeedFaults: true},
		"a kind of fault that never was":    {Kinds: []string{"kill"}},
		"watches that did not come so far":  {NeedStreams: true},
		"a node without watches":            {NeedStreams: true, Nodes: []string{"node-1", "node-9"}},
		"traffic and writes, both too few ": {MinOperations: 100, MinAcked: 100},
	}
	for what, o := range options {
		s := newStory(t)
		s.create("a/x", "w1", 1001)
		s.create("a/y", "w2", 1002)
		s.watch("node-1", from(1000), "A:1001")
		assert.Equal(t, check.Invalid, check.Judge(s.history(), o).Verdict, what)
	}
	s := newStory(t)
	s.create("a/x", "w1", 1001)
	s.line(history.Event{Process: "nemesis", Type: history.Start, F: "kill", Fault: &history.Fault{Name: "kill-1", Family: "kill"}})
	s.create("a/y", "w2", 1002)
	s.line(history.Event{Process: "nemesis", Type: history.Stop, F: "kill", Fault: &history.Fault{Name: "kill-1"}})
	report := check.Judge(s.history(), check.Options{})
	assert.Equal(t, check.Invalid, report.Verdict, "a fault that nobody felt")
	assert.Contains(t, report.Sentence, "none of the 1 faults of kind kill was felt")
}
func TestAHistoryOfWatchesAloneIsJudged(t *testing.T) {
	s := newStory(t)
	s.made("a/x", "w1", 1001)
	s.watch("node-1", from(1000), "A:1001")
	assert.Equal(t, check.Broken, check.Judge(s.history(), check.Options{}).Verdict)
	assert.Equal(t, check.Broken, check.Judge(&history.History{Streams: s.history().Streams}, check.Options{}).Verdict)
}
