// Package fsm is the replicated state machine: commands and their encoding, the order in which they apply, the
// immutable state they leave behind, the history of what they changed, sessions that make each command apply exactly
// once, and snapshots of it all.
//
// It promises that machines which were fed the same log hold the same state, byte for byte. To keep that promise it
// sees no clock, no randomness, no map order, no environment and no network: time and uids ride in the command.
//
// It owns no goroutine. One writer (Raft's apply thread) calls ApplyBatch, Snapshot and Restore; any number of readers
// use the states and events it has published without a lock.
package fsm
