// Package fsm is the replicated state machine: commands and their encoding, the order in which they apply, the
// immutable state they leave behind, the history of what they changed, sessions that make each command apply exactly
// once, and snapshots of it all.
//
// It promises that machines which were fed the same log hold the same state, byte for byte. To keep that promise it
// sees no clock, no randomness, no map order, no environment and no network: time and uids ride in the command.
//
// What a batch does becomes visible at once, state, events, index and all, by the swap of one pointer. So a watch never
// sees an event before the state that contains it, and a list never a state whose events it could not watch on from.
//
// Everything that grows is bounded by the log alone, so that all members forget alike: history by what OpCompact says and
// by a number of bytes that is cluster state; a session's results by the mark that its commands carry, and by a window
// behind the highest seq; remembered ended sessions by their number. A member that was restored from a snapshot knows
// less history, never different history.
//
// It owns no goroutine. One writer (Raft's apply thread) calls ApplyBatch, Snapshot and Restore; any number of readers
// use the states and events it has published without a lock.
package fsm
