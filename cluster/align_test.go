package cluster

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Without alignment the former leader refuses every entry after each snapshot, and gets the same snapshot again for ever
// (hashicorp/raft issue 697).
func TestALeaderWithALongUncommittedTailCatchesUpFromASnapshot(t *testing.T) {
	for name, trailing := range map[string]uint64{"its log is kept": 10_000, "its log is compacted": 20} {
		t.Run(name, func(t *testing.T) {
			inTrio(t, func(config *raft.Config) {
				config.TrailingLogs = 10
				config.SnapshotInterval = time.Hour
				config.SnapshotThreshold = 1 << 40
			}, func(c *trio) {
				former := c.leader()
				former.apply(t, "shared")
				reloaded := former.raft.ReloadableConfig()
				reloaded.TrailingLogs = trailing
				require.NoError(t, former.raft.ReloadConfig(reloaded))
				c.cut(former.id)
				for n := range 600 {
					former.raft.Apply(fmt.Appendf(nil, "lost %d", n), 0)
				}
				leader := c.leader(c.others(former)...)
				for n := range 300 {
					leader.apply(t, fmt.Sprintf("kept %d", n))
				}
				require.NoError(t, leader.raft.Snapshot().Error())
				leader.apply(t, "after the snapshot")

				c.connect(former.id)
				eventually(t, time.Minute, func() bool { return len(former.machine.all()) == 302 })
				assert.Equal(t, leader.machine.all(), former.machine.all())
				leader.apply(t, "and on")
				eventually(t, time.Minute, func() bool { return len(former.machine.all()) == 303 })
				assert.Equal(t, leader.raft.LastIndex(), former.raft.LastIndex())
				leader.transport.installs.mu.Lock()
				assert.Zero(t, leader.transport.installs.inRow[former.id], "snapshots without progress")
				leader.transport.installs.mu.Unlock()
			})
		})
	}
}

func TestALogThatDoesNotHoldTheSnapshotsEndIsDropped(t *testing.T) {
	type entries map[uint64]uint64 // index to term
	for name, test := range map[string]struct {
		log  entries
		want entries
	}{
		"empty":                        {entries{}, entries{}},
		"agrees":                       {entries{4: 2, 5: 3, 6: 3}, entries{4: 2, 5: 3, 6: 3}},
		"ends before":                  {entries{1: 1, 2: 1, 3: 2}, entries{}},
		"conflicts and ends there":     {entries{4: 2, 5: 2}, entries{}},
		"conflicts and goes on":        {entries{4: 2, 5: 2, 6: 2}, entries{5: 3, 6: 2}},
		"was compacted beyond already": {entries{6: 3, 7: 3}, entries{6: 3, 7: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			log := raft.NewInmemStore()
			for _, index := range slices.Sorted(maps.Keys(test.log)) {
				require.NoError(t, log.StoreLog(&raft.Log{Index: index, Term: test.log[index]}))
			}
			fatal := func(err error) { t.Error(err) }
			stores, err := guardStores(log, log, raft.NewInmemSnapshotStore(), "memory", nil, fatal)
			require.NoError(t, err)
			sink, err := stores.snapshots.Create(raft.SnapshotVersionMax, 5, 3, raft.Configuration{}, 1, nil)
			require.NoError(t, err)
			require.NoError(t, sink.Close())
			got := entries{}
			for index := range uint64(10) {
				var entry raft.Log
				if stores.log.GetLog(index, &entry) == nil {
					got[index] = entry.Term
				}
			}
			assert.Equal(t, test.want, got)
		})
	}
}
