package fsm

import (
	"context"
	"io"

	"github.com/hashicorp/raft"
)

// Machine applies the log. It implements raft.BatchingFSM and raft.ConfigurationStore.
type Machine struct{}

// Options bound what a machine keeps. All members of a cluster use the same.
type Options struct {
	// TailEvents and TailBytes bound the part of the history that rides in a snapshot.
	TailEvents int
	TailBytes  int
}

// New returns an empty machine at FirstRevision.
func New(options Options) *Machine { return &Machine{} }

// State returns the newest state. A reader that wants a newer one asks again.
func (m *Machine) State() *State { return &State{revision: FirstRevision} }

// History returns the window of changes up to the newest state. The value stays valid across Restore.
func (m *Machine) History() *History { return &History{} }

// Applied returns the index and term of the last log entry of any kind that has been applied here.
func (m *Machine) Applied() (index, term uint64) { return 0, 0 }

// WaitIndex returns once the machine has applied the log up to index, or with the context's error.
func (m *Machine) WaitIndex(ctx context.Context, index uint64) error { return nil }

// WaitRevision returns once the state has reached revision, or with the context's error.
func (m *Machine) WaitRevision(ctx context.Context, revision uint64) error { return nil }

// Incarnation returns the recorded incarnation of a member's data directory, and whether one is recorded.
func (m *Machine) Incarnation(node string) (string, bool) { return "", false }

// Hash digests objects, revision and sessions, not history: equal on machines with the same Applied index.
func (m *Machine) Hash() (index uint64, digest uint64) { return 0, 0 }

// Apply implements raft.FSM. Its response is a []Result, one for each command of the entry.
func (m *Machine) Apply(log *raft.Log) any { return nil }

// ApplyBatch implements raft.BatchingFSM.
func (m *Machine) ApplyBatch(logs []*raft.Log) []any { return make([]any, len(logs)) }

// StoreConfiguration implements raft.ConfigurationStore.
func (m *Machine) StoreConfiguration(index uint64, configuration raft.Configuration) {}

// Snapshot implements raft.FSM: it only takes pointers, all work is in Persist.
func (m *Machine) Snapshot() (raft.FSMSnapshot, error) { return nil, nil }

// Restore implements raft.FSM.
func (m *Machine) Restore(snapshot io.ReadCloser) error { return nil }
