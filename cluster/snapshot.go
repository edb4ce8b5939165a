package cluster

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"github.com/leasehold/leasehold/fsm"
	"github.com/leasehold/leasehold/fsm/seeded"
)

const (
	snapshotEvery = time.Second // how often the size of the log is looked at
	minTrailing   = 64          // entries that stay after a snapshot whatever their size
	maxTrailing   = 100_000     // and at most: deleting more than that in one go stalls the log
)

// snapshots takes snapshots by bytes of log. The library counts entries, of which one may hold one heartbeat or
// thousands.
type snapshots struct {
	store   raft.SnapshotStore
	log     raft.LogStore
	logger  hclog.Logger
	bytes   atomic.Int64  // applied since the last snapshot
	entries atomic.Int64  // that held them
	index   atomic.Uint64 // of the last snapshot
	first   atomic.Uint64 // of the log, when index was written
}

// counted is the machine as Raft sees it: it counts what it applies.
type counted struct {
	*fsm.Machine
	snapshots *snapshots
}

var (
	_ raft.BatchingFSM        = counted{}
	_ raft.ConfigurationStore = counted{}
)

func (c counted) Apply(log *raft.Log) any {
	c.snapshots.count1(log)
	return c.Machine.Apply(log)
}

func (c counted) ApplyBatch(logs []*raft.Log) []any {
	for _, log := range logs {
		c.snapshots.count1(log)
	}
	if seeded.AppliedIndex {
		time.Sleep(slowMachine)
	}
	return c.Machine.ApplyBatch(logs)
}

func (s *snapshots) count1(log *raft.Log) {
	s.bytes.Add(int64(len(log.Data)))
	s.entries.Add(1)
}

// run takes a snapshot whenever enough has been applied, until ctx ends.
func (s *snapshots) run(ctx context.Context, r *raft.Raft, config *Config) {
	s.refresh()
	ticker := time.NewTicker(snapshotEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if s.first.Load() == 0 { // the log was empty when last looked at
			s.refresh()
		}
		bytes, entries := s.bytes.Load(), s.entries.Load()
		if bytes < config.SnapshotBytes {
			continue
		}
		if err := s.take(ctx, r, config); err != nil {
			s.logger.Warn("snapshot was not taken", "error", err)
			continue
		}
		s.taken(bytes, entries)
	}
}

// taken begins to count anew after a snapshot that was asked for after so much.
func (s *snapshots) taken(bytes, entries int64) {
	s.bytes.Add(-bytes)
	s.entries.Add(-entries)
}

func (s *snapshots) take(ctx context.Context, r *raft.Raft, config *Config) error {
	reload := r.ReloadableConfig()
	reload.TrailingLogs = s.trailing(config.TrailingBytes)
	if err := r.ReloadConfig(reload); err != nil {
		return err
	}
	future := r.Snapshot()
	done := make(chan error, 1)
	go func() { done <- future.Error() }()
	select {
	case err := <-done:
		s.refresh()
		if errors.Is(err, raft.ErrNothingNewToSnapshot) {
			return nil
		}
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// trailing returns how many entries to keep after a snapshot so that they hold about limit bytes, if they are like those
// since the last snapshot. An average over more than those would keep gigabytes when objects have become larger.
func (s *snapshots) trailing(limit int64) uint64 {
	bytes, entries := s.bytes.Load(), s.entries.Load()
	if bytes <= 0 || entries <= 0 {
		return minTrailing
	}
	return uint64(min(max(limit/max(bytes/entries, 1), minTrailing), maxTrailing))
}

// refresh looks up what last and firstIndex return. It is called while the stores are open.
func (s *snapshots) refresh() {
	list, err := s.store.List()
	if err == nil && len(list) > 0 {
		s.index.Store(list[0].Index)
	}
	if first, err := s.log.FirstIndex(); err == nil {
		s.first.Store(first)
	}
}

// last returns the index of the newest snapshot known.
func (s *snapshots) last() uint64 { return s.index.Load() }

// firstIndex returns where the log began after that snapshot: a follower that lacks an earlier entry needs a snapshot.
func (s *snapshots) firstIndex() uint64 { return s.first.Load() }
