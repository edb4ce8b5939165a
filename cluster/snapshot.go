package cluster

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"github.com/leasehold/leasehold/fsm"
)

const (
	snapshotEvery = time.Second // how often the size of the log is looked at
	minTrailing   = 64          // entries that stay after a snapshot whatever their size
	maxTrailing   = 100_000     // and at most: deleting more than that in one go stalls the log
)

// snapshots takes snapshots by bytes of log. The library counts entries, of which one may hold one heartbeat or
// thousands.
type snapshots struct {
	store  raft.SnapshotStore
	logger hclog.Logger
	bytes  atomic.Int64 // applied since the last snapshot
	total  atomic.Int64 // applied by this run, with entries: their average size
	count  atomic.Int64
	index  atomic.Uint64 // of the last snapshot
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
	return c.Machine.ApplyBatch(logs)
}

func (s *snapshots) count1(log *raft.Log) {
	s.bytes.Add(int64(len(log.Data)))
	s.total.Add(int64(len(log.Data)))
	s.count.Add(1)
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
		before := s.bytes.Load()
		if before < config.SnapshotBytes {
			continue
		}
		if err := s.take(ctx, r, config); err != nil {
			s.logger.Warn("snapshot was not taken", "error", err)
			continue
		}
		s.bytes.Add(-before)
	}
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

// trailing returns how many entries to keep after a snapshot so that they hold about limit bytes.
func (s *snapshots) trailing(limit int64) uint64 {
	total, count := s.total.Load(), s.count.Load()
	if total <= 0 || count <= 0 {
		return minTrailing
	}
	return uint64(min(max(limit/max(total/count, 1), minTrailing), maxTrailing))
}

func (s *snapshots) refresh() {
	list, err := s.store.List()
	if err == nil && len(list) > 0 {
		s.index.Store(list[0].Index)
	}
}

// last returns the index of the newest snapshot known.
func (s *snapshots) last() uint64 { return s.index.Load() }
