package fsm

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/raft"
)

// DefaultHistoryBytes bounds a new cluster's history until an OpCompact sets another bound.
const DefaultHistoryBytes = 1 << 30

// Machine applies the log. It implements raft.BatchingFSM and raft.ConfigurationStore.
type Machine struct {
	options Options
	history History
	closed  chan struct{} // closed from the beginning

	// view is everything readers see, replaced as one: a reader that got an event or learned an index finds the state
	// that goes with it.
	view atomic.Pointer[view]

	mu       sync.Mutex // guards sessions; the writer holds it for a batch, Hash for as long as it takes to share them
	sessions sessions

	indexes   waiters
	revisions waiters
}

// view is what one batch leaves behind. It never changes.
type view struct {
	state        *State
	window       window        // its newest is the state's revision
	limit        uint64        // bound on window.bytes
	changed      chan struct{} // closed when a view with more events, or after a Restore, has been published
	lineage      *token        // new with each Restore
	index, term  uint64        // of the last entry applied
	incarnations map[string]string
}

// Options bound what a machine keeps. All members of a cluster use the same.
type Options struct {
	// TailEvents and TailBytes bound the part of the history that rides in a snapshot. Zero means the default; below
	// zero no history rides along.
	TailEvents int
	TailBytes  int
}

// The default tail: 30 s at 10,000 changes a second.
const (
	DefaultTailEvents = 300_000
	DefaultTailBytes  = 64 << 20
)

// New returns an empty machine at FirstRevision.
func New(options Options) *Machine {
	if options.TailEvents == 0 {
		options.TailEvents = DefaultTailEvents
	}
	if options.TailBytes == 0 {
		options.TailBytes = DefaultTailBytes
	}
	m := &Machine{options: options, closed: make(chan struct{}), sessions: newSessions()}
	m.history.machine = m
	close(m.closed)
	m.view.Store(&view{
		state:   &State{revision: FirstRevision},
		window:  window{oldest: FirstRevision, newest: FirstRevision},
		limit:   DefaultHistoryBytes,
		changed: make(chan struct{}),
		lineage: new(token),
	})
	return m
}

// State returns the newest state. A reader that wants a newer one asks again.
func (m *Machine) State() *State { return m.view.Load().state }

// History returns the window of changes up to the newest state. The value stays valid across Restore.
func (m *Machine) History() *History { return &m.history }

// Applied returns the index and term of the last log entry of any kind that has been applied here.
func (m *Machine) Applied() (index, term uint64) {
	v := m.view.Load()
	return v.index, v.term
}

// WaitIndex returns once the machine has applied the log up to index, or with the context's error.
func (m *Machine) WaitIndex(ctx context.Context, index uint64) error {
	return m.indexes.wait(ctx, index, m.reachedIndex)
}

// WaitRevision returns once the state has reached revision, or with the context's error.
func (m *Machine) WaitRevision(ctx context.Context, revision uint64) error {
	return m.revisions.wait(ctx, revision, m.reachedRevision)
}

func (m *Machine) reachedIndex() uint64    { return m.view.Load().index }
func (m *Machine) reachedRevision() uint64 { return m.view.Load().state.revision }

// Incarnation returns the recorded incarnation of a member's data directory, and whether one is recorded.
func (m *Machine) Incarnation(node string) (string, bool) {
	incarnation, ok := m.view.Load().incarnations[node]
	return incarnation, ok
}

// StoreConfiguration implements raft.ConfigurationStore. Raft calls it instead of ApplyBatch when it applies entries one
// at a time. The configuration itself is Raft's own affair; the index must advance.
func (m *Machine) StoreConfiguration(index uint64, _ raft.Configuration) {
	next := *m.view.Load()
	next.index = index
	m.publish(&next)
}

// publish replaces the view and then wakes those who wait for what it brings.
func (m *Machine) publish(next *view) {
	last := m.view.Load()
	m.view.Store(next)
	if next.changed != last.changed {
		close(last.changed)
	}
	if next.window.oldest != last.window.oldest || next.lineage != last.lineage {
		m.history.past.trim(next)
	}
	m.indexes.wake(next.index)
	m.revisions.wake(next.state.revision)
}
