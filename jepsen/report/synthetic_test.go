package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/jepsen/check"
	"github.com/leasehold/leasehold/jepsen/history"
)

// script gathers events in any order of time; lines gives them their indexes.
type script struct {
	events []history.Event
	marks  map[string]int // name to place in events
}

const second = int64(time.Second)

func (s *script) add(mark string, e history.Event) {
	if mark != "" {
		s.marks[mark] = len(s.events)
	}
	s.events = append(s.events, e)
}

// call adds an operation with its answer, a nanosecond apart from all others by chance.
func (s *script) call(mark, process, f, node string, from, to int64, r history.Request, outcome history.Type, a history.Answer) {
	s.add(mark, history.Event{Time: from, Process: process, Type: history.Invoke, F: f, Node: node, Request: &r})
	s.add("", history.Event{Time: to, Process: process, Type: outcome, Answer: &a})
}

func (s *script) fault(name, kind, family string, from, to int64, effect, failure string, nodes ...string) {
	s.add("", history.Event{Time: from, Process: "nemesis", Type: history.Start, F: kind, Fault: &history.Fault{Name: name, Family: family, Nodes: nodes}})
	s.add("", history.Event{Time: to, Process: "nemesis", Type: history.Stop, F: kind, Fault: &history.Fault{Name: name, Family: family, Nodes: nodes, Effect: effect, Error: failure}})
}

// finish writes the history into dir and reads it back. It returns the line of each mark.
func (s *script) finish(t testing.TB, dir string) (*history.History, map[string]int64) {
	order := make([]int, len(s.events))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(s.events[a].Time - s.events[b].Time) })
	var file bytes.Buffer
	encoder := json.NewEncoder(&file)
	line := make([]int64, len(s.events))
	for i, place := range order {
		e := s.events[place]
		e.Index = int64(i + 1)
		line[place] = e.Index
		require.NoError(t, encoder.Encode(e))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "history.jsonl"), file.Bytes(), 0o644))
	h, err := history.Read(&file)
	require.NoError(t, err)
	lines := make(map[string]int64)
	for mark, place := range s.marks {
		lines[mark] = line[place]
	}
	return h, lines
}

// good is half a minute on three nodes with faults of every family and nothing wrong.
func good(operations int) *script {
	s := &script{marks: make(map[string]int)}
	random := rand.New(rand.NewPCG(1, 2))
	nodes := []string{"node-1", "node-2", "node-3"}
	end := 30 * second
	revision := uint64(1000)
	held := make(map[string]uint64)
	const clients = 8
	free := [clients]int64{}
	for i := range operations {
		client := i % clients
		process := fmt.Sprint(client + 1)
		from := max(free[client], int64(i)*(end-second)/int64(operations)) + random.Int64N(3_000_000)
		key := fmt.Sprintf("jepsen-a/lease-%02d", random.IntN(12))
		node := nodes[random.IntN(3)]
		took := int64(1_000_000 * (0.4 + random.ExpFloat64()))
		down := func(a, b float64) bool { at := float64(from) / 1e9; return at > a && at < b }
		if down(4, 5.1) || down(15, 15.9) {
			took += int64(random.IntN(900)) * 1_000_000
		}
		r := history.Request{Key: key, ID: fmt.Sprintf("%s-%d", process, i)}
		switch dice := random.IntN(100); {
		case down(10, 13) && node == "node-2":
			took = int64(2500+random.IntN(60)) * 1_000_000
			s.call("", fmt.Sprintf("%s.%d", process, i), history.Update, node, from, from+took, r, history.Info, history.Answer{Code: 504, Reason: "Timeout"})
			free[client] = from + 3_000_000
			continue
		case held[key] == 0:
			revision++
			held[key] = revision
			s.call("", process, history.Create, node, from, from+took, r, history.OK, history.Answer{Code: 201, Version: &history.Version{Key: key, Revision: revision, ID: r.ID, Holder: "c" + process}})
		case dice < 40:
			s.call("", process, history.Get, node, from, from+took, history.Request{Key: key}, history.OK, history.Answer{Code: 200, Version: &history.Version{Key: key, Revision: held[key]}})
		case dice < 75:
			r.Revision = fmt.Sprint(held[key])
			revision++
			held[key] = revision
			s.call("", process, history.Update, node, from, from+took, r, history.OK, history.Answer{Code: 200, Version: &history.Version{Key: key, Revision: revision, ID: r.ID, Holder: "c" + process}})
		case dice < 88:
			r.Revision = "1000"
			s.call("", process, history.Update, node, from, from+took, r, history.Fail, history.Answer{Code: 409, Reason: "Conflict"})
		case dice < 95:
			s.call("", process, history.List, node, from, from+2*took, history.Request{Key: "jepsen-a/"}, history.OK, history.Answer{Code: 200, Revision: revision})
		default:
			revision++
			held[key] = 0
			s.call("", process, history.Delete, node, from, from+took, r, history.OK, history.Answer{Code: 200, Version: &history.Version{Key: key, Revision: revision}})
		}
		free[client] = from + 2*took + 1_000_000
	}
	s.fault("kill-leader-1", "kill-leader", "kill", 4*second, 6*second, "a new leader, node-2, after 1.04 s", "", "node-1")
	s.fault("kill-leader-2", "kill-leader", "kill", 15*second, 17*second, "a new leader, node-1, after 0.93 s", "", "node-2")
	s.fault("pause-1", "pause", "pause", 8*second, 9*second+second/2, "3 operations waited for it", "", "node-3")
	s.fault("pause-2", "pause", "pause", 20*second, 20*second+second/3, "", "", "node-3")
	s.fault("partition-leader-1", "partition-leader", "partition", 10*second, 13*second, "a new leader, node-3, after 1.2 s", "", "node-2")
	s.fault("partition-ring-1", "partition-ring", "partition", 12*second, 14*second, "", "no ring of three nodes", "node-1", "node-2", "node-3")
	s.fault("delay-1", "delay", "packet", 11*second, 16*second, "median latency 22 ms", "", "node-1", "node-2", "node-3")
	s.fault("loss-1", "loss", "packet", 22*second, 25*second, "retransmissions", "", "node-1")
	s.fault("slow-disk-1", "slow-disk", "disk", 18*second, 21*second, "syncs took 0.5 s", "", "node-1")
	s.fault("clock-offset-1", "clock-offset", "clock", 2*second, 7*second, "its clock said so", "", "node-2")
	s.fault("transfer-1", "transfer", "member", 24*second, 24*second+second/10, "node-1 leads", "", "node-1")
	s.fault("overload-1", "overload", "load", 26*second, 28*second, "429 answers", "", "node-1", "node-2", "node-3")
	leader := func(at int64) (string, uint64) {
		switch {
		case at < 4*second:
			return "node-1", 2
		case at < 10*second:
			return "node-2", 3
		case at < 15*second:
			return "node-3", 4
		default:
			return "node-1", 5
		}
	}
	for at := second / 10; at < end; at += second / 10 {
		for i, node := range nodes {
			most := uint64(1000 + at*int64(revision-1000)/end)
			sample := history.Sample{Role: "follower", Revision: most - uint64(random.IntN(4)), Ready: true}
			sample.Leader, sample.Term = leader(at)
			if sample.Leader == node {
				sample.Role, sample.Revision = "leader", most
			}
			switch {
			case node == "node-1" && at > 4*second && at < 6*second, node == "node-2" && at > 15*second && at < 17*second:
				sample = history.Sample{Error: "connection refused"}
			case node == "node-2" && at > 10*second && at < 13*second:
				sample.Revision = 1000 + 10*uint64(second)*(revision-1000)/uint64(end)
			}
			s.add("", history.Event{Time: at + int64(i)*1000, Process: "probe", Type: history.Probe, Node: node, Sample: &sample})
		}
	}
	s.add("watch", history.Event{Time: second, Process: "watch-2", Type: history.Invoke, F: history.Watch, Node: "node-2", Request: &history.Request{Key: "jepsen-a/", Revision: "1000"}})
	s.add("", history.Event{Time: second + 3_000_000, Process: "watch-2", Type: history.OK, Answer: &history.Answer{Code: 200}})
	return s
}

func goodVerdict() check.Report {
	return check.Report{Verdict: check.Pass, Sentence: "PASS: 400 operations under 12 faults, every promise held.",
		Results: []check.Result{
			{Checker: "register", Judges: []string{"O1", "O2", "O3", "O4", "O5", "O6", "O7"}, Verdict: check.Pass, Checked: 400, Seconds: 0.004},
			{Checker: "versions", Judges: []string{"V1", "V2", "V3", "V4", "V5"}, Verdict: check.Pass, Checked: 400, Seconds: 0.002},
			{Checker: "watch", Judges: []string{"W1", "W2", "W3", "W4"}, Verdict: check.Pass, Checked: 212, Seconds: 0.001},
		}, Counts: map[string]int{"elections": 3, "snapshots installed": 1, "answers 410": 2}}
}

// staleRead adds a write acknowledged by one node and a later read at a deposed leader that does not show it.
func staleRead(s *script) func(lines map[string]int64) check.Report {
	const key = "jepsen-a/lease-stale"
	base := 10 * second
	version := func(revision uint64, id, holder string) *history.Version {
		return &history.Version{Key: key, Revision: revision, ID: id, Holder: holder, Transitions: int32(revision - 9000)}
	}
	ms := int64(1_000_000)
	s.call("before", "31", history.Create, "node-2", base-400*ms, base-396*ms, history.Request{Key: key, ID: "31-1", Holder: "a"}, history.OK, history.Answer{Code: 201, Version: version(9001, "31-1", "a")})
	s.call("", "32", history.Get, "node-1", base-300*ms, base-298*ms, history.Request{Key: key}, history.OK, history.Answer{Code: 200, Version: version(9001, "31-1", "a")})
	s.call("write", "31", history.Update, "node-3", base+1350*ms, base+1362*ms, history.Request{Key: key, ID: "31-2", Revision: "9001", Holder: "b"}, history.OK, history.Answer{Code: 200, Version: version(9005, "31-2", "b")})
	s.call("", "33", history.Get, "node-1", base+1364*ms, base+1366*ms, history.Request{Key: key}, history.OK, history.Answer{Code: 200, Version: version(9005, "31-2", "b")})
	s.call("lost", "35", history.Update, "node-2", base+1366*ms, base+3900*ms, history.Request{Key: key, ID: "35-1", Revision: "9001", Holder: "c"}, history.Info, history.Answer{Code: 504, Reason: "Timeout"})
	s.call("read", "34", history.Get, "node-2", base+1371*ms, base+1374*ms, history.Request{Key: key}, history.OK, history.Answer{Code: 200, Version: version(9001, "31-1", "a")})
	return func(lines map[string]int64) check.Report {
		r := goodVerdict()
		r.Verdict = check.Broken
		r.Sentence = "FAIL register.O5: node-2 answered a read of jepsen-a/lease-stale at 11.371 s with revision 9001, though 9005 had been acknowledged by node-3 at 11.362 s, during partition-leader-1."
		r.Results[0].Verdict = check.Broken
		r.Results[0].Findings = []check.Finding{{Guarantee: "O5", Verdict: check.Broken,
			Sentence: "Client 34 read jepsen-a/lease-stale at node-2 and was shown revision 9001, nine milliseconds after node-3 had acknowledged revision 9005 to client 31.",
			Time:     base + 1374*ms, Lines: []int64{lines["read"], lines["write"], lines["before"]}, Keys: []string{key}, Faults: []string{"partition-leader-1", "delay-1"}}}
		r.Results[0].More = 3
		return r
	}
}

// watchGap adds a watch that leaves out an event.
func watchGap(s *script) func(lines map[string]int64) check.Report {
	const key = "jepsen-b/lease-7"
	base := 17 * second
	ms := int64(1_000_000)
	for i, node := range []string{"node-1", "node-3", "node-1"} {
		revision := uint64(9100 + i)
		r := history.Request{Key: key, ID: fmt.Sprintf("41-%d", i), Holder: "h"}
		version := &history.Version{Key: key, Revision: revision, ID: r.ID, Holder: "h"}
		f := history.Update
		if i == 0 {
			f = history.Create
		} else {
			r.Revision = fmt.Sprint(revision - 1)
		}
		from := base + int64(i)*40*ms
		s.call(fmt.Sprintf("write-%d", i), "41", f, node, from, from+4*ms, r, history.OK, history.Answer{Code: 200, Version: version})
		if i != 1 {
			kind := map[int]string{0: "ADDED", 2: "MODIFIED"}[i]
			s.add(fmt.Sprintf("seen-%d", i), history.Event{Time: from + 6*ms, Process: "watch-2", Type: history.Seen, Change: &history.Change{Type: kind, Version: version}})
		}
	}
	return func(lines map[string]int64) check.Report {
		r := goodVerdict()
		r.Verdict = check.Broken
		r.Sentence = "FAIL watch.W3: a watch at node-2 skipped revision 9101 (update of jepsen-b/lease-7, acknowledged by node-3 at 17.044 s)."
		r.Results[2].Verdict = check.Broken
		r.Results[2].Findings = []check.Finding{{Guarantee: "W3", Verdict: check.Broken,
			Sentence: "The watch watch-2 at node-2 delivered revision 9100 and then 9102 of jepsen-b/lease-7, and left out 9101, which node-3 had acknowledged in between.",
			Time:     base + 86*ms, Lines: []int64{lines["seen-2"], lines["write-1"], lines["seen-0"], lines["watch"]}, Keys: []string{key}, Faults: []string{"kill-leader-2"}}}
		return r
	}
}

func someRun() Run {
	return Run{Began: time.Date(2026, 12, 1, 2, 3, 4, 0, time.UTC), Workload: "register,watch", Nemesis: "kill,partition,pause", Seed: 42, Nodes: []string{"node-1", "node-2", "node-3"},
		Mode: "proxy", Why: "no right to make network namespaces", Command: "bin/jepsen run --workload register,watch --nemesis kill,partition,pause --seed 42 --nodes 3",
		Environment: Environment{Commit: "9f7a3b1c0de", Dirty: true, Machine: "2 cores, 24 GiB", Kernel: "6.18", CPUs: 2, Go: "go1.26.8", Binary: "bin/leasehold", Versions: map[string]string{"leasehold": "0.3.0"}}}
}

// folder writes the report of a script into a folder of its own.
func folder(t testing.TB, s *script, verdict func(map[string]int64) check.Report) string {
	dir := t.TempDir()
	if keep := os.Getenv("JEPSEN_REPORT_KEEP"); keep != "" { // to look at the pages
		dir = filepath.Join(keep, t.Name())
		require.NoError(t, os.MkdirAll(dir, 0o755))
	}
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "nodes", "node-1"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "nodes", "node-1", "stderr.log"), []byte("started\n"), 0o644))
	h, lines := s.finish(t, dir)
	require.NoError(t, Write(dir, h, verdict(lines), someRun()))
	return dir
}

// twoHolders adds electors that both believe to hold a lease.
func twoHolders(s *script) func(lines map[string]int64) check.Report {
	const key = "jepsen-e/lock-3"
	base := 19 * second
	tenure := func(mark, process string, kind history.Type, at int64) {
		s.add(mark, history.Event{Time: at + 2_000_000, Process: process, Type: kind, Tenure: &history.Tenure{Key: key, Holder: process, Client: process, At: at}})
	}
	tenure("first", "elector-1", history.Lead, base)
	tenure("", "elector-1", history.Yield, base+4*second)
	tenure("second", "elector-2", history.Lead, base+3*second)
	return func(lines map[string]int64) check.Report {
		r := goodVerdict()
		r.Verdict, r.Sentence = check.Broken, "FAIL election.E2: elector-1 and elector-2 both held jepsen-e/lock-3 for 1.00 s."
		r.Results[0].Verdict = check.Broken
		r.Results[0].Findings = []check.Finding{{Guarantee: "E2", Verdict: check.Broken, Sentence: "elector-1 and elector-2 believed for 1.00 s at once that they held jepsen-e/lock-3.",
			Time: base + 3*second, Lines: []int64{lines["second"], lines["first"]}, Keys: []string{key}, Faults: []string{"slow-disk-1"}}}
		return r
	}
}
