package cluster

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
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
			inTrio(t, manualSnapshots, func(c *trio) {
				leader, former := c.overtake(trailing)
				eventually(t, time.Minute, func() bool { return len(former.machine.all()) == 302 })
				assert.Equal(t, leader.machine.all(), former.machine.all())
				leader.apply(t, "and on")
				eventually(t, time.Minute, func() bool { return len(former.machine.all()) == 303 })
				assert.Equal(t, leader.raft.LastIndex(), former.raft.LastIndex())
				assert.LessOrEqual(t, former.machine.restored(), 2)
			})
		})
	}
}

// Where alignment does not help, as here where it is off, the leader must not wear the peer out.
func TestSnapshotsThatLeadNowhereAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTrio(t, manualSnapshots, func(s *stores) *stores {
			s.snapshots = s.snapshots.(alignedSnapshots).SnapshotStore
			return s
		})
		defer c.stop()
		tooMany := make(chan struct{})
		for _, n := range c.others(nil) {
			n.machine.onRestore = func(count int) {
				if count == 15 {
					close(tooMany)
				}
			}
		}
		leader, former := c.overtake(10_000)
		select {
		case <-tooMany:
			require.FailNow(t, "15 snapshots in five minutes")
		case <-time.After(5 * time.Minute):
		}
		assert.GreaterOrEqual(t, former.machine.restored(), 3)
		assert.Same(t, leader, c.leader(c.others(former)...))
	})
}

func manualSnapshots(config *raft.Config) {
	config.TrailingLogs = 10
	config.SnapshotInterval = time.Hour
	config.SnapshotThreshold = 1 << 40
}

// overtake has a leader write a long tail while it is cut off, and the others a shorter one that ends in a snapshot, and
// brings them together again.
func (c *trio) overtake(trailing uint64) (leader, former *trioNode) {
	former = c.leader()
	former.apply(c.t, "shared")
	reloaded := former.raft.ReloadableConfig()
	reloaded.TrailingLogs = trailing
	require.NoError(c.t, former.raft.ReloadConfig(reloaded))
	c.cut(former.id)
	for n := range 600 {
		former.raft.Apply(fmt.Appendf(nil, "lost %d", n), 0)
	}
	leader = c.leader(c.others(former)...)
	for n := range 300 {
		leader.apply(c.t, fmt.Sprintf("kept %d", n))
	}
	require.NoError(c.t, leader.raft.Snapshot().Error())
	leader.apply(c.t, "after the snapshot")
	c.connect(former.id)
	return leader, former
}

func (l *ledger) restored() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.restores
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
