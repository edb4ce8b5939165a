package cluster

import (
	"errors"
	"fmt"

	"github.com/hashicorp/raft"
)

// alignedSnapshots makes the log follow an installed snapshot. The Raft paper (figure 13, InstallSnapshot rules 6 and 7)
// keeps a log only if it holds the snapshot's last entry, and discards it otherwise. The library keeps it always, with
// two results:
//
//   - A conflicting entry at the snapshot's index makes the follower refuse what comes after the snapshot; the leader
//     goes back, finds its own log compacted, and sends the snapshot again, for ever (hashicorp/raft issue 697).
//   - Conflicting entries below stay in the log. A node that leads later could send them to a follower that lags, which
//     would apply them.
//
// So when a snapshot is complete and the log does not hold its last entry, everything up to it goes. Raft knows in its
// memory where its log ends, so entries beyond stay (the first true one that arrives there replaces them all), and where
// there are such, a placeholder tells the term at the snapshot's index, which raft asks the log for. A leader never
// sends the placeholder: before it, its log is compacted.
type alignedSnapshots struct {
	raft.SnapshotStore
	log raft.LogStore
}

func (s alignedSnapshots) Create(version raft.SnapshotVersion, index, term uint64, configuration raft.Configuration,
	configurationIndex uint64, trans raft.Transport) (raft.SnapshotSink, error) {
	sink, err := s.SnapshotStore.Create(version, index, term, configuration, configurationIndex, trans)
	if err != nil {
		return nil, err
	}
	return alignedSink{sink, s.log, index, term}, nil
}

// alignNewest does at a start what a crash may have kept a sink from doing.
func (s alignedSnapshots) alignNewest() error {
	listed, err := s.List()
	if err != nil || len(listed) == 0 {
		return err
	}
	return align(s.log, listed[0].Index, listed[0].Term)
}

type alignedSink struct {
	raft.SnapshotSink
	log         raft.LogStore
	index, term uint64
}

// Close aligns after the snapshot is safe. For a snapshot of our own there is nothing to do.
func (s alignedSink) Close() error {
	if err := s.SnapshotSink.Close(); err != nil {
		return err
	}
	return align(s.log, s.index, s.term)
}

func align(log raft.LogStore, index, term uint64) error {
	var entry raft.Log
	err := log.GetLog(index, &entry)
	if err == nil && entry.Term == term {
		return nil
	}
	if err != nil && !errors.Is(err, raft.ErrLogNotFound) {
		return fmt.Errorf("align log with snapshot: %w", err)
	}
	first, err := log.FirstIndex()
	if err != nil {
		return fmt.Errorf("align log with snapshot: %w", err)
	}
	last, err := log.LastIndex()
	if err != nil {
		return fmt.Errorf("align log with snapshot: %w", err)
	}
	if first == 0 || first > index {
		return nil
	}
	if err := log.DeleteRange(first, min(index, last)); err != nil {
		return fmt.Errorf("align log with snapshot: %w", err)
	}
	if last > index {
		if err := log.StoreLog(&raft.Log{Index: index, Term: term, Type: raft.LogNoop}); err != nil {
			return fmt.Errorf("align log with snapshot: %w", err)
		}
	}
	return nil
}
