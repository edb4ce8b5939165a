package jepsen

import "time"

// Bug is a fault seeded into an instrumented server. A harness that does not find it proves nothing by finding nothing.
type Bug struct {
	Name  string // value of the variable that switches it on
	Means string // what the server then does wrong
	// Guarantees are those of which at least one must be reported broken.
	Guarantees []string
	Workloads  []string
	Nemesis    []string
	Pairs      []string
	Flags      []string
	Interval   time.Duration // between strikes; 0 is the usual
	Duration   time.Duration // of a run; 0 is the usual
	Rate       float64       // 0 is the usual
	// Slow bugs need luck: they have Within for all their tries together, the others for each.
	Slow   bool
	Within time.Duration
}

// Bugs are all the seeded faults.
func Bugs() []Bug {
	const fast, slow = 30 * time.Second, 10 * time.Minute
	return []Bug{
		{Name: "read-local", Means: "get and list answer from the node's own state without asking the leader",
			Guarantees: []string{"O5", "O7", "L1", "D3"}, Workloads: []string{"register", "list"}, Nemesis: []string{"partition-one"}, Within: fast},
		{Name: "read-verifyleader", Means: "a read trusts raft's VerifyLeader, which counts answers to requests sent before",
			Guarantees: []string{"O5", "O7", "L1", "D3"}, Workloads: []string{"register"}, Nemesis: nil, Pairs: []string{"pause-leader+partition-one-way"}, Slow: true, Within: slow},
		{Name: "read-before-noop", Means: "a new leader answers reads before it has applied an entry of its own term",
			Guarantees: []string{"O5", "O7", "L1", "V3", "V4", "D3"}, Workloads: []string{"register"}, Nemesis: []string{"kill-leader", "transfer"}, Slow: true, Within: slow},
		{Name: "applied-index", Means: "a follower waits for what was handed to its machine, not for what the machine has applied",
			Guarantees: []string{"O5", "L1", "L3"}, Workloads: []string{"list", "register"}, Within: fast},
		{Name: "ack-early", Means: "a write is acknowledged before a majority has it",
			Guarantees: []string{"D1", "O5", "V2", "W11", "A1", "O1", "O2"}, Workloads: []string{"register"}, Nemesis: []string{"kill-all", "kill-leader"}, Within: fast},
		{Name: "nosync", Means: "the log is not synced to the disk",
			Guarantees: []string{"D1", "V2", "D2", "W11"}, Workloads: []string{"register"}, Nemesis: []string{"power-loss-all"}, Within: fast},
		{Name: "double-apply", Means: "a forwarded write of unknown outcome is sent again without protection against applying it twice",
			Guarantees: []string{"A1", "A2", "V2"}, Workloads: []string{"generate", "append"}, Nemesis: []string{"kill-leader", "reset"}, Within: fast},
		{Name: "retry-after", Means: "an unknown outcome is answered as one that may be tried again",
			Guarantees: []string{"A2", "A3"}, Workloads: []string{"register", "generate"}, Nemesis: []string{"partition-leader"}, Within: fast},
		{Name: "watch-drop", Means: "a watch drops events when its reader is slow",
			Guarantees: []string{"W3", "W10"}, Workloads: []string{"watch"}, Duration: 16 * time.Second, Within: fast},
		{Name: "watch-dup-on-resume", Means: "a resumed watch sends its first event again",
			Guarantees: []string{"W1", "W2", "W6"}, Workloads: []string{"watch"}, Within: fast},
		{Name: "watch-future-old", Means: "a watch from a revision to come sends events of before",
			Guarantees: []string{"W9"}, Workloads: []string{"watch"}, Within: fast},
		{Name: "watch-gap-after-snapshot", Means: "a node restored from a snapshot resumes watches with a gap instead of 410",
			Guarantees: []string{"W3", "W6"}, Workloads: []string{"watch"}, Nemesis: []string{"kill-one", "rolling-restart"}, Flags: littleLog(), Duration: 14 * time.Second, Within: fast},
		{Name: "bookmark-ahead", Means: "a bookmark promises the commit index's revision rather than the applied one",
			Guarantees: []string{"W7"}, Workloads: []string{"watch"}, Within: fast},
		{Name: "list-torn", Means: "the pages of one list come from different snapshots",
			Guarantees: []string{"L5"}, Workloads: []string{"list"}, Within: fast},
		{Name: "rv-reuse", Means: "the revision counter is not in the snapshot",
			Guarantees: []string{"V2", "V3", "V4", "D1", "D4"}, Workloads: []string{"register"}, Nemesis: []string{"kill-all", "kill-one"}, Flags: littleLog(), Within: fast},
		{Name: "fsm-clock", Means: "the replicated machine reads its own node's clock",
			Guarantees: []string{"D4", "V2"}, Workloads: []string{"register"}, Within: fast},
	}
}

// BugVariable is the variable of an instrumented server's environment that switches a seeded fault on.
const BugVariable = "LEASEHOLD_SEEDED_BUG"

// littleLog has nodes take snapshots often and keep little log behind them.
func littleLog() []string { return []string{"--snapshot-bytes=65536", "--trailing-bytes=65536"} }
