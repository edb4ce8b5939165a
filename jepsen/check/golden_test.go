package check_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leasehold/leasehold/jepsen/check"
	"github.com/leasehold/leasehold/jepsen/history"
)

var everything = history.Request{}

func from(revision uint64) history.Request {
	return history.Request{Revision: text(revision), Bookmark: true}
}

// Each history breaks one guarantee, and the verdict names that one and no other.
var bad = []struct {
	guarantee string
	what      string
	tell      func(*story)
}{
	{"V1", "an answer has a version that is no number", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.ok(s.call(history.Get, "node-1", history.Request{Key: "a/x"}), history.Answer{Malformed: `resourceVersion "01001"`})
	}},
	{"V1", "an event has a version that is no number", func(s *story) {
		p := s.call(history.Watch, "node-1", from(1000))
		s.ok(p, history.Answer{})
		s.line(history.Event{Process: p, Type: history.Seen, Change: &history.Change{Type: "ADDED", Malformed: `resourceVersion "0"`}})
	}},
	{"V2", "two writes of different objects are acked with one revision", func(s *story) {
		a := s.call(history.Create, "node-1", history.Request{Key: "a/x", ID: "w1"})
		b := s.call(history.Create, "node-2", history.Request{Key: "a/y", ID: "w2"})
		s.ok(a, history.Answer{Version: s.made("a/x", "w1", 1001)})
		s.ok(b, history.Answer{Version: s.made("a/y", "w2", 1001)})
	}},
	{"V2", "two readers see different contents of one revision", func(s *story) {
		p := s.call(history.Create, "node-1", history.Request{Key: "a/x", ID: "w1"})
		s.info(p)
		s.made("a/x", "w1", 1001)
		s.get("node-1", "a/x", 1001)
		other := *s.see(1001)
		other.Digest++
		s.ok(s.call(history.Get, "node-2", history.Request{Key: "a/x"}), history.Answer{Version: &other})
	}},
	{"V3", "a write called after another was acked has a lesser revision", func(s *story) {
		s.create("a/x", "w1", 1002)
		s.create("a/y", "w2", 1001)
	}},
	{"V4", "a node goes back to an older state than it has answered with", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.create("a/y", "w2", 1002)
		s.list("node-2", everything, 1002, 1001, 1002)
		s.list("node-2", history.Request{Revision: "1001"}, 1001, 1001)
	}},
	{"V5", "a write that changes nothing makes a new version", func(s *story) {
		s.create("a/x", "w1", 1001)
		p := s.call(history.Update, "node-1", history.Request{Key: "a/x", ID: "w1", Same: true, Revision: "1001"})
		s.ok(p, history.Answer{Version: s.see(1001)})
		s.made("a/x", "w1", 1002)
		s.watch("node-1", from(1000), "A:1001", "M:1002")
	}},
	{"V5", "a write that changes nothing is answered with another version", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.update("a/x", "w2", 1001, 1002)
		p := s.call(history.Update, "node-1", history.Request{Key: "a/x", ID: "w1", Same: true, Revision: "1001"})
		s.ok(p, history.Answer{Version: s.see(1002)})
	}},
	{"O1", "a create succeeds where the object is", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.create("a/x", "w2", 1002)
	}},
	{"O2", "an update replaces another version than it demanded", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.update("a/x", "w2", 1001, 1002)
		s.update("a/x", "w3", 1001, 1003)
	}},
	{"O2", "a PUT without a version replaces", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.ok(s.call(history.Put, "node-1", history.Request{Key: "a/x", ID: "w2"}), history.Answer{Version: s.made("a/x", "w2", 1002)})
	}},
	{"O3", "a patch with a precondition changes another version", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.update("a/x", "w2", 1001, 1002)
		s.ok(s.call(history.Patch, "node-1", history.Request{Key: "a/x", ID: "w3", Revision: "1001"}), history.Answer{Version: s.made("a/x", "w3", 1003)})
	}},
	{"O3", "an appended element is lost by the next append", func(s *story) {
		s.appended("a/x", "w1", "e1", 1001, "e1")
		s.appended("a/x", "w2", "e2", 1002, "e1", "e2")
		s.appended("a/x", "w3", "e3", 1003, "e1", "e3")
	}},
	{"O3", "elements change places", func(s *story) {
		s.appended("a/x", "w1", "e1", 1001, "e1")
		s.appended("a/x", "w2", "e2", 1002, "e1", "e2")
		s.appended("a/x", "w3", "e3", 1003, "e2", "e1", "e3")
	}},
	{"O4", "a delete removes another version than it demanded", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.update("a/x", "w2", 1001, 1002)
		p := s.call(history.Delete, "node-1", history.Request{Key: "a/x", ID: "w3", Revision: "1001"})
		s.ok(p, history.Answer{Version: s.gone("a/x", 1003)})
		s.watch("node-1", from(1000), "A:1001", "M:1002", "D:1003")
	}},
	{"O5", "a read is older than an acknowledged write", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.update("a/x", "w2", 1001, 1002)
		s.get("node-2", "a/x", 1001)
		s.create("a/y", "w3", 1003)
	}},
	{"O5", "a read is older than what an earlier read has shown", func(s *story) {
		s.create("a/x", "w1", 1001)
		p := s.call(history.Update, "node-1", history.Request{Key: "a/x", ID: "w2", Revision: "1001"})
		s.made("a/x", "w2", 1002)
		s.get("node-1", "a/x", 1002)
		s.get("node-2", "a/x", 1001)
		s.ok(p, history.Answer{Version: s.see(1002)})
	}},
	{"O5", "a read is older than what a watch has shown", func(s *story) {
		s.create("a/x", "w1", 1001)
		p := s.call(history.Update, "node-1", history.Request{Key: "a/x", ID: "w2", Revision: "1001"})
		s.made("a/x", "w2", 1002)
		s.watch("node-1", from(1000), "A:1001", "M:1002")
		s.get("node-2", "a/x", 1001)
		s.ok(p, history.Answer{Version: s.see(1002)})
	}},
	{"O5", "a read shows a write before it was called", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.made("a/x", "w2", 1002)
		s.get("node-1", "a/x", 1002)
		p := s.call(history.Update, "node-1", history.Request{Key: "a/x", ID: "w2", Revision: "1001"})
		s.ok(p, history.Answer{Version: s.see(1002)})
	}},
	{"O6", "an object changes its uid", func(s *story) {
		s.create("a/x", "w1", 1001)
		v := s.current["a/x"]
		v.UID = "other"
		s.current["a/x"] = v
		s.update("a/x", "w2", 1001, 1002)
	}},
	{"O6", "an object made anew has the uid of the one before", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.delete("a/x", "w2", 1002)
		s.current["a/x"] = history.Version{Key: "a/x", UID: "uid-w1", Created: 100}
		s.create("a/x", "w3", 1003)
		s.watch("node-1", from(1000), "A:1001", "D:1002", "A:1003")
	}},
	{"O6", "an object changes its creationTimestamp", func(s *story) {
		s.create("a/x", "w1", 1001)
		v := s.current["a/x"]
		v.Created++
		s.current["a/x"] = v
		s.update("a/x", "w2", 1001, 1002)
	}},
	{"O7", "404 although the object is there", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.missing("node-2", "a/x")
		s.create("a/y", "w2", 1002)
	}},
	{"O7", "AlreadyExists although the object is gone", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.delete("a/x", "w2", 1002)
		s.fail(s.call(history.Create, "node-2", history.Request{Key: "a/x", ID: "w3"}), 409, "AlreadyExists")
		s.watch("node-1", from(1000), "A:1001", "D:1002")
	}},
	{"O7", "Conflict although the version demanded is the current one", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.fail(s.call(history.Update, "node-2", history.Request{Key: "a/x", ID: "w2", Revision: "1001"}), 409, "Conflict")
	}},
	{"O7", "422 for a PUT without a version although the object is gone", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.delete("a/x", "w2", 1002)
		s.fail(s.call(history.Put, "node-2", history.Request{Key: "a/x", ID: "w3"}), 422, "Invalid")
		s.watch("node-1", from(1000), "A:1001", "D:1002")
	}},
	{"L1", "a default list is older than an acknowledged write", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.create("a/y", "w2", 1002)
		s.list("node-2", everything, 1001, 1001)
		s.create("a/z", "w3", 1003)
	}},
	{"L1", "a default list is older than an earlier one", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.list("node-1", everything, 1005, 1001)
		s.list("node-2", everything, 1004, 1001)
		s.create("a/y", "w2", 1006)
	}},
	{"L1", "a list shows an old version among new ones", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.update("a/x", "w2", 1001, 1002)
		s.create("a/y", "w3", 1003)
		s.list("node-2", everything, 1003, 1001, 1003)
		s.create("a/z", "w4", 1004)
	}},
	{"L1", "a list lacks an object", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.create("a/y", "w2", 1002)
		s.list("node-2", everything, 1002, 1002)
		s.create("a/z", "w3", 1003)
	}},
	{"L1", "a list shows what is gone", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.delete("a/x", "w2", 1002)
		s.list("node-2", everything, 1002, 1001)
		s.create("a/z", "w3", 1003)
		s.watch("node-1", from(1000), "A:1001", "D:1002", "A:1003")
	}},
	{"L1", "a list with a selector shows another group", func(s *story) {
		s.grouped("a/x", "w1", "red", 0, 1001)
		s.grouped("a/y", "w2", "blue", 0, 1002)
		s.list("node-2", history.Request{Group: "red"}, 1002, 1001, 1002)
	}},
	{"L2", "a list from cache is not whole", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.create("a/y", "w2", 1002)
		s.list("node-2", history.Request{Revision: "0"}, 1002, 1002)
	}},
	{"L2", "lists from one node's cache go back", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.create("a/y", "w2", 1002)
		s.list("node-2", history.Request{Revision: "0"}, 1002, 1001, 1002)
		s.list("node-2", history.Request{Revision: "0"}, 1001, 1001)
	}},
	{"L2", "a list from cache is of the future", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.list("node-2", history.Request{Revision: "0"}, 1002, 1001)
		s.create("a/y", "w2", 1002)
	}},
	{"L3", "a list is older than the revision demanded", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.create("a/y", "w2", 1002)
		s.list("node-2", history.Request{Revision: "1002", Match: "NotOlderThan"}, 1001, 1001)
	}},
	{"L4", "a list is not of the exact revision demanded", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.create("a/y", "w2", 1002)
		s.list("node-2", history.Request{Revision: "1001", Match: "Exact"}, 1002, 1001, 1002)
	}},
	{"L4", "a list of an exact revision shows a later state", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.update("a/x", "w2", 1001, 1002)
		s.list("node-2", history.Request{Revision: "1001", Match: "Exact"}, 1001, 1002)
	}},
	{"L5", "pages of one list are of two revisions", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.create("a/y", "w2", 1002)
		s.ok(s.call(history.List, "node-1", history.Request{Listing: "l1", Limit: 1}), s.page(1002, true, 1001))
		s.create("a/z", "w3", 1003)
		s.ok(s.call(history.List, "node-2", history.Request{Listing: "l1", Limit: 5, Page: 1}), s.page(1003, false, 1002, 1003))
	}},
	{"L5", "an object falls between two pages", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.create("a/y", "w2", 1002)
		s.create("a/z", "w3", 1003)
		s.ok(s.call(history.List, "node-1", history.Request{Listing: "l1", Limit: 1}), s.page(1003, true, 1001))
		s.ok(s.call(history.List, "node-2", history.Request{Listing: "l1", Limit: 5, Page: 1}), s.page(1003, false, 1003))
		s.create("a/zz", "w4", 1004)
	}},
	{"L5", "an object is on two pages", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.create("a/y", "w2", 1002)
		s.ok(s.call(history.List, "node-1", history.Request{Listing: "l1", Limit: 1}), s.page(1002, true, 1001))
		s.ok(s.call(history.List, "node-2", history.Request{Listing: "l1", Limit: 5, Page: 1}), s.page(1002, false, 1001, 1002))
	}},
	{"W1", "events come in another order than their revisions", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.create("a/y", "w2", 1002)
		s.create("a/z", "w3", 1003)
		s.grouped("a/r", "w4", "red", 0, 1004)
		s.grouped("a/s", "w5", "red", 0, 1005)
		s.watch("node-1", from(1000), "A:1001", "A:1002", "A:1003", "A:1004", "A:1005")
		s.watch("node-2", history.Request{Revision: "1003", Key: "a/"}, "A:1005", "A:1004")
	}},
	{"W2", "an event comes twice", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.watch("node-1", from(1000), "A:1001", "A:1001")
	}},
	{"W2", "a resumed stream repeats the event that it resumes after", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.update("a/x", "w2", 1001, 1002)
		s.watch("node-1", from(1001), "A:1001", "M:1002")
	}},
	{"W3", "a stream skips an event", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.create("a/y", "w2", 1002)
		s.create("a/z", "w3", 1003)
		s.watch("node-1", from(1000), "A:1001", "A:1003")
	}},
	{"W3", "a stream with a selector is not told that an object left", func(s *story) {
		s.grouped("a/x", "w1", "red", 0, 1001)
		s.grouped("a/x", "w2", "blue", 1001, 1002)
		s.grouped("a/y", "w3", "red", 0, 1003)
		s.watch("node-1", history.Request{Revision: "1000", Group: "red"}, "A:1001", "A:1003")
	}},
	{"W4", "a stream shows what nobody wrote", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.made("a/x", "w2", 1002)
		s.watch("node-1", from(1000), "A:1001", "M:1002")
	}},
	{"W4", "a stream shows other content than was written", func(s *story) {
		s.create("a/x", "w1", 1001)
		v := *s.see(1001)
		v.Digest++
		s.versions[1001] = v
		s.watch("node-1", from(1000), "A:1001")
	}},
	{"W4", "a stream shows a deletion that nobody asked for", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.gone("a/x", 1002)
		s.watch("node-1", from(1000), "A:1001", "D:1002")
	}},
	{"W4", "a stream shows a write before it was called", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.made("a/x", "w2", 1002)
		s.watch("node-1", from(1000), "A:1001", "M:1002")
		p := s.call(history.Update, "node-1", history.Request{Key: "a/x", ID: "w2", Revision: "1001"})
		s.ok(p, history.Answer{Version: s.see(1002)})
	}},
	{"W5", "a change is told as an addition", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.update("a/x", "w2", 1001, 1002)
		s.watch("node-1", from(1000), "A:1001", "A:1002")
	}},
	{"W5", "an object that enters the selection is told as changed", func(s *story) {
		s.grouped("a/x", "w1", "blue", 0, 1001)
		s.grouped("a/x", "w2", "red", 1001, 1002)
		s.watch("node-1", history.Request{Revision: "1000", Group: "red"}, "M:1002")
	}},
	{"W6", "a resumed stream begins after a gap", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.update("a/x", "w2", 1001, 1002)
		s.update("a/x", "w3", 1002, 1003)
		s.watch("node-1", from(1001), "M:1003")
	}},
	{"W7", "a bookmark is ahead of what was delivered", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.create("a/y", "w2", 1002)
		s.watch("node-1", from(1000), "A:1001", "B:1002")
	}},
	{"W7", "a watch that is ahead of itself is no evidence of what did not happen", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.delete("a/x", "w2", 1002)
		s.create("a/x", "w3", 1003)
		s.list("node-2", everything, 1003, 1003)
		s.watch("node-1", from(1000), "A:1001", "B:1003")
	}},
	{"W7", "an event follows the bookmark that covers it", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.create("a/y", "w2", 1002)
		s.watch("node-1", from(1000), "A:1001", "B:1002", "A:1002")
	}},
	{"W7", "bookmarks go back", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.watch("node-1", from(1000), "A:1001", "B:1005", "B:1004")
		s.create("a/y", "w2", 1006)
	}},
	{"W7", "a bookmark is ahead of the store", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.watch("node-1", from(1000), "A:1001", "B:1002")
		s.create("a/y", "w2", 1002)
	}},
	{"W8", "initial events lack an object", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.create("a/y", "w2", 1002)
		s.watch("node-1", history.Request{Initial: true, Bookmark: true, Match: "NotOlderThan"}, "A:1001", "I:1002")
	}},
	{"W8", "initial events are older than an acknowledged write", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.create("a/y", "w2", 1002)
		s.watch("node-1", history.Request{Initial: true, Bookmark: true, Match: "NotOlderThan"}, "A:1001", "I:1001", "A:1002")
	}},
	{"W8", "initial events are older than demanded", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.create("a/y", "w2", 1002)
		s.watch("node-1", history.Request{Revision: "1002", Initial: true, Bookmark: true, Match: "NotOlderThan"}, "A:1001", "I:1001", "A:1002")
	}},
	{"W9", "a stream from the future shows the past", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.watch("node-1", from(1005), "A:1001")
	}},
	{"W9", "a stream from the future gets an old bookmark", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.watch("node-1", from(1005), "B:1002")
	}},
	{"W10", "a reader that was slow is not told of an event", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.create("a/y", "w2", 1002)
		s.create("a/z", "w3", 1003)
		p := s.call(history.Watch, "node-1", from(1000))
		s.ok(p, history.Answer{})
		s.deliver(p, "A:1001")
		s.wait(20_000)
		s.deliver(p, "A:1003")
	}},
	{"W11", "a watch shows a write that is gone later", func(s *story) {
		s.create("a/x", "w1", 1001)
		p := s.call(history.Update, "node-1", history.Request{Key: "a/x", ID: "w2", Revision: "1001"})
		s.made("a/x", "w2", 1002)
		s.watch("node-1", from(1000), "A:1001", "M:1002")
		s.info(p)
		s.list("node-1", everything, 1003, 1001)
		s.list("node-2", everything, 1003, 1001)
	}},
	{"A1", "one create makes two objects", func(s *story) {
		p := s.call(history.Create, "node-1", history.Request{Key: "a/", ID: "w1", Generate: true})
		s.ok(p, history.Answer{Version: s.made("a/x-1", "w1", 1001)})
		s.current["a/x-2"] = history.Version{Key: "a/x-2", UID: "another"}
		s.made("a/x-2", "w1", 1002)
		s.list("node-2", everything, 1002, 1001, 1002)
	}},
	{"A1", "one delete is done twice", func(s *story) {
		s.create("a/x", "w1", 1001)
		a := s.call(history.Delete, "node-1", history.Request{Key: "a/x", ID: "w2"})
		b := s.call(history.Delete, "node-2", history.Request{Key: "a/x", ID: "w3"})
		gone := s.gone("a/x", 1002)
		s.ok(a, history.Answer{Version: gone})
		s.ok(b, history.Answer{Version: gone})
		s.watch("node-1", from(1000), "A:1001", "D:1002")
	}},
	{"A1", "one append stands there twice", func(s *story) {
		s.appended("a/x", "w1", "e1", 1001, "e1")
		s.appended("a/x", "w2", "e2", 1002, "e1", "e2", "e2")
	}},
	{"A2", "a write that was refused takes effect", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.fail(s.call(history.Update, "node-1", history.Request{Key: "a/x", ID: "w2", Revision: "1001"}), 503, "ServiceUnavailable")
		s.made("a/x", "w2", 1002)
		s.get("node-2", "a/x", 1002)
	}},
	{"A2", "a delete that was refused takes effect", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.fail(s.call(history.Delete, "node-1", history.Request{Key: "a/x", ID: "w2"}), 503, "ServiceUnavailable")
		s.gone("a/x", 1002)
		s.watch("node-1", from(1000), "A:1001", "D:1002")
	}},
	{"A3", "a write that may be done is answered with Retry-After", func(s *story) {
		p := s.call(history.Create, "node-1", history.Request{Key: "a/x", ID: "w1"})
		s.line(history.Event{Process: p, Type: history.Info, Answer: &history.Answer{Code: 504, Reason: "Timeout", RetryAfter: true}})
	}},
	{"A3", "a write that was answered with Retry-After takes effect", func(s *story) {
		p := s.call(history.Create, "node-1", history.Request{Key: "a/x", ID: "w1"})
		s.line(history.Event{Process: p, Type: history.Fail, Answer: &history.Answer{Code: 503, RetryAfter: true}})
		s.made("a/x", "w1", 1001)
		s.get("node-2", "a/x", 1001)
	}},
	{"E1", "a holder comes back without a takeover", func(s *story) {
		s.held("a", 0, 0, 1001)
		s.held("b", 1, 1001, 1002)
		s.held("a", 1, 1002, 1003)
		s.lead("e1", "a/x", "a", s.now)
	}},
	{"E1", "transitions fall", func(s *story) {
		s.held("a", 3, 0, 1001)
		s.held("a", 2, 1001, 1002)
		s.lead("e1", "a/x", "a", s.now)
	}},
	{"E2", "two electors lead at once", func(s *story) {
		s.lead("e1", "a/x", "a", 1000)
		s.lead("e2", "a/x", "b", 2000)
		s.yield("e1", "a/x", "a", 3000)
		s.yield("e2", "a/x", "b", 4000)
	}},
	{"D1", "an acknowledged write is gone at the end", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.update("a/x", "w2", 1001, 1002)
		s.list("node-1", everything, 1005, 1001)
		s.list("node-2", everything, 1005, 1001)
	}},
	{"D1", "an acknowledged object is gone at the end", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.create("a/y", "w2", 1002)
		s.list("node-1", everything, 1005, 1001)
	}},
	{"D1", "the store is at an older revision at the end", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.update("a/x", "w2", 1001, 1002)
		s.list("node-1", everything, 1001, 1001)
	}},
	{"D1", "an acknowledged deletion was not made", func(s *story) {
		s.create("a/x", "w1", 1001)
		s.list("node-1", everything, 1001, 1001)
		p := s.call(history.Delete, "node-1", history.Request{Key: "a/x", ID: "w2"})
		s.ok(p, history.Answer{Version: &history.Version{Key: "a/x", UID: "uid-w1"}})
		s.create("a/y", "w3", 1003)
		s.watch("node-1", from(1000), "A:1001", "A:1003")
		s.list("node-2", everything, 1003, 1001, 1003)
	}},
	{"D2", "what was read is gone at the end", func(s *story) {
		s.create("a/x", "w1", 1001)
		p := s.call(history.Update, "node-1", history.Request{Key: "a/x", ID: "w2", Revision: "1001"})
		s.made("a/x", "w2", 1002)
		s.get("node-1", "a/x", 1002)
		s.info(p)
		s.list("node-1", everything, 1005, 1001)
	}},
	{"D4", "two replicas have two hashes of one index", func(s *story) {
		s.line(history.Event{Process: "probe", Node: "node-1", Type: history.Probe, Sample: &history.Sample{HashIndex: 7, Hash: "aa"}})
		s.line(history.Event{Process: "probe", Node: "node-2", Type: history.Probe, Sample: &history.Sample{HashIndex: 7, Hash: "bb"}})
	}},
	{"D4", "nodes are not level at the end", func(s *story) {
		s.line(history.Event{Process: "probe", Node: "node-1", Type: history.Probe, Sample: &history.Sample{Revision: 1002, Final: true}})
		s.line(history.Event{Process: "probe", Node: "node-2", Type: history.Probe, Sample: &history.Sample{Revision: 1001, Final: true}})
	}},
	{"D5", "a call is never answered", func(s *story) {
		s.call(history.Create, "node-1", history.Request{Key: "a/x", ID: "w1"})
		s.wait(100_000)
		s.list("node-1", everything, 1000)
	}},
	{"D5", "no write succeeds for minutes although no node was harmed", func(s *story) {
		s.create("a/x", "w1", 1001)
		for i := range 10 {
			s.info(s.call(history.Create, "node-1", history.Request{Key: "b/x", ID: "i" + text(uint64(i))}))
			s.wait(10_000)
		}
		s.create("a/y", "w2", 1002)
	}},
}

func TestEachBadHistoryBreaksItsGuarantee(t *testing.T) {
	for _, b := range bad {
		t.Run(b.guarantee+"/"+b.what, func(t *testing.T) {
			s := newStory(t)
			b.tell(s)
			report := check.Judge(s.history(), check.Options{})
			assert.Equal(t, []string{b.guarantee}, broken(report), sentences(report))
			assert.Equal(t, check.Broken, report.Verdict)
			assert.Contains(t, report.Sentence, "."+b.guarantee+": ")
			t.Log(report.Sentence)
		})
	}
}

// appended tells of an append and what the object's elements are then.
func (s *story) appended(key, id, element string, revision uint64, elements ...string) {
	f := history.Patch
	if _, there := s.current[key]; !there {
		f = history.Create
	}
	p := s.call(f, "node-1", history.Request{Key: key, ID: id, Append: element, Blind: f == history.Patch})
	v := s.made(key, id, revision)
	v.Elements = elements
	s.current[key], s.versions[revision] = *v, *v
	s.ok(p, history.Answer{Version: v})
}

// grouped tells of a write that sets an object's group.
func (s *story) grouped(key, id, group string, demanded, revision uint64) {
	f, in := history.Create, history.Request{Key: key, ID: id, Group: group}
	if demanded > 0 {
		f, in.Revision = history.Update, text(demanded)
	}
	p := s.call(f, "node-1", in)
	v := s.made(key, id, revision)
	v.Group = group
	s.current[key], s.versions[revision] = *v, *v
	s.ok(p, history.Answer{Version: v})
}

// held tells of a write of a lease by an elector.
func (s *story) held(holder string, transitions int32, demanded, revision uint64) {
	id := "h" + text(revision)
	f, in := history.Create, history.Request{Key: "a/x", ID: id, Holder: holder, Transitions: transitions}
	if demanded > 0 {
		f, in.Revision = history.Update, text(demanded)
	}
	p := s.call(f, "node-1", in)
	v := s.made("a/x", id, revision)
	v.Holder, v.Transitions = holder, transitions
	s.current["a/x"], s.versions[revision] = *v, *v
	s.ok(p, history.Answer{Version: v})
}
