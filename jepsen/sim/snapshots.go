package sim

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"

	"github.com/hashicorp/raft"
)

// snapshot is a snapshot that is whole.
type snapshot struct {
	meta   raft.SnapshotMeta
	pieces [][]byte // as they were written
}

// read returns all of it from its beginning.
func (s *snapshot) read() io.ReadCloser {
	readers := make([]io.Reader, len(s.pieces))
	for i, piece := range s.pieces {
		readers[i] = bytes.NewReader(piece)
	}
	return io.NopCloser(io.MultiReader(readers...))
}

// keptSnapshots is how many stay.
const keptSnapshots = 2

// snapshots is a disk as raft.SnapshotStore.
type snapshots struct{ disk *disk }

func (s snapshots) Create(version raft.SnapshotVersion, index, term uint64, configuration raft.Configuration,
	configurationIndex uint64, _ raft.Transport) (raft.SnapshotSink, error) {
	s.disk.mu.Lock()
	id := fmt.Sprintf("%d-%d-%d", term, index, s.disk.rand.Uint32())
	s.disk.mu.Unlock()
	return &sink{disk: s.disk, meta: raft.SnapshotMeta{
		Version: version, ID: id, Index: index, Term: term,
		Configuration: configuration, ConfigurationIndex: configurationIndex,
	}}, nil
}

// List has the newest first.
func (s snapshots) List() ([]*raft.SnapshotMeta, error) {
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	var metas []*raft.SnapshotMeta
	for _, kept := range s.disk.content.snapshots {
		meta := kept.meta
		metas = append([]*raft.SnapshotMeta{&meta}, metas...)
	}
	return metas, nil
}

func (s snapshots) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	for _, kept := range s.disk.content.snapshots {
		if kept.meta.ID == id {
			meta := kept.meta
			return &meta, kept.read(), nil
		}
	}
	return nil, nil, fmt.Errorf("snapshot %s: %w", id, fs.ErrNotExist)
}

// sink is a snapshot being written. It is there once Close has returned.
type sink struct {
	disk   *disk
	meta   raft.SnapshotMeta
	pieces [][]byte
	done   bool
}

func (s *sink) ID() string { return s.meta.ID }

func (s *sink) Write(p []byte) (int, error) {
	s.pieces = append(s.pieces, bytes.Clone(p))
	s.meta.Size += int64(len(p))
	return len(p), nil
}

func (s *sink) Close() error {
	if s.done {
		return nil
	}
	s.done = true
	whole := &snapshot{meta: s.meta, pieces: s.pieces}
	if err := s.disk.write(func(c *content) { c.keep(whole) }); err != nil {
		return err
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	s.disk.taken++
	return nil
}

func (s *sink) Cancel() error {
	s.done = true
	return nil
}

// keep adds a snapshot in the order that raft goes by, and lets the oldest go.
func (c *content) keep(added *snapshot) {
	at := len(c.snapshots)
	for at > 0 && newer(&c.snapshots[at-1].meta, &added.meta) {
		at--
	}
	next := append([]*snapshot{}, c.snapshots[:at]...)
	next = append(append(next, added), c.snapshots[at:]...)
	c.snapshots = next[max(0, len(next)-keptSnapshots):]
}

func newer(a, b *raft.SnapshotMeta) bool {
	if a.Term != b.Term {
		return a.Term > b.Term
	}
	return a.Index > b.Index
}

var _ raft.SnapshotStore = snapshots{}
