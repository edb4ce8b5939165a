//go:build !jepsenbugs

// Package seeded holds the faults that the chaos harness must be able to find: each is one branch somewhere in fsm,
// cluster or httpapi that breaks one guarantee, in the way in which a server like this one is known to get it wrong.
//
// They are constants, and false: the compiler drops the branches, and nothing of them is in a binary that was built
// without the tag jepsenbugs (cmd/leasehold has a test of that). With the tag the environment chooses, see
// instrumented.go. A fault is meant to be in all nodes of a cluster alike, where it does not say otherwise.
package seeded

// Instrumented tells whether this is a binary for the harness.
const Instrumented = false

const (
	// ReadLocal: a get or a list is of what this node happens to have. It misses what was acknowledged elsewhere.
	ReadLocal = false
	// ReadVerifyLeader: a read round trusts raft.VerifyLeader, which counts answers to requests of before the read. A
	// leader that was paused or cut off through an election shows old state.
	ReadVerifyLeader = false
	// ReadBeforeNoop: a leader answers reads before anything of its own term is committed. What its predecessor
	// acknowledged last is in its log, but it does not know that this is committed.
	ReadBeforeNoop = false
	// AppliedIndex: a read waits for raft.AppliedIndex, which has moved as soon as an entry was handed to the machine. It
	// misses what the machine, slower than usual with this fault, has yet to apply.
	AppliedIndex = false
	// AckEarly: a write is acknowledged when the leader has begun to replicate it. If the leader dies first it is lost.
	AckEarly = false
	// NoSync: the log is written but not synced. A power loss takes acknowledged writes, a kill takes none.
	NoSync = false
	// DoubleApply: a node sends a proposal again when it is not answered at once, and the machine does not look whether
	// it has been there before. One request is applied twice.
	DoubleApply = false
	// RetryAfter: an unknown outcome is told as 503 with Retry-After. Clients send such a write once more.
	RetryAfter = false
	// WatchDrop: a watch that has fallen behind leaves out the oldest events and goes on.
	WatchDrop = false
	// WatchDupOnResume: a watch from a version shows the change that made that version once more.
	WatchDupOnResume = false
	// WatchFutureOld: a watch from a version that this node has not reached shows changes of before that version.
	WatchFutureOld = false
	// WatchGapAfterSnapshot: a watch from a version that the node lacks since it installed a snapshot begins after the
	// gap instead of ending with 410. (Snapshots carry no history with this fault: there nearly always is a gap.)
	WatchGapAfterSnapshot = false
	// BookmarkAhead: a bookmark names a version that the node has not reached yet.
	BookmarkAhead = false
	// ListTorn: the later pages of a list are of the newest state, under the version of the first page.
	ListTorn = false
	// RVReuse: a snapshot does not bring the counter of versions back. It starts at the beginning again.
	RVReuse = false
	// FSMClock: what an entry does depends on the clock of the node that applies it. Replicas differ.
	FSMClock = false
)
