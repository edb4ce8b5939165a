package cluster

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Without the watchdog the leader keeps its followers by heartbeats for as long as its disk hangs.
func TestALeaderWhoseDiskHangsIsReplaced(t *testing.T) {
	inTrio(t, nil, func(c *trio) {
		hung := c.leader()
		hung.apply(t, "before")
		hung.disk.hang()
		hangs := time.Now()
		lost := hung.raft.Apply([]byte("into the void"), 0)
		next := c.leader(c.others(hung)...)
		next.apply(t, "after")
		assert.Less(t, time.Since(hangs), stallThreshold+2*time.Second)
		hung.disk.resume()
		require.Error(t, lost.Error())
		eventually(t, 30*time.Second, func() bool { return hung.raft.State() == raft.Follower && len(hung.machine.all()) == 2 })
		assert.Equal(t, []string{"before", "after"}, hung.machine.all())
		assert.Same(t, next, c.leader())
		assert.NoError(t, hung.died())
	})
}

func TestADiskThatHangsForLongEndsTheProcess(t *testing.T) {
	inTrio(t, nil, func(c *trio) {
		hung := c.leader()
		hung.disk.hang()
		hung.raft.Apply([]byte("into the void"), 0)
		time.Sleep(stallThreshold + stallLimit - time.Second)
		require.NoError(t, hung.died())
		time.Sleep(2 * time.Second)
		require.ErrorContains(t, hung.died(), "write log entries in memory has not returned for 11s: the disk hangs")
	})
}

func TestStallsOfAFewSecondsDoNotMakeLeadershipFlap(t *testing.T) {
	inTrio(t, nil, func(c *trio) {
		var changes atomic.Int64
		for _, n := range c.others(nil) {
			seen := make(chan raft.Observation, 100)
			n.raft.RegisterObserver(raft.NewObserver(seen, false, func(o *raft.Observation) bool {
				if o.Data == raft.Leader {
					changes.Add(1)
				}
				return false
			}))
		}
		slow := c.leader()
		changes.Store(0)
		for range 5 {
			slow.disk.hang()
			for range 6 {
				c.write()
				time.Sleep(500 * time.Millisecond)
			}
			slow.disk.resume()
			for range 27 {
				c.write()
				time.Sleep(time.Second)
			}
		}
		assert.EqualValues(t, 1, changes.Load(), "leadership moves away from the slow disk and stays")
		assert.NotSame(t, slow, c.leader())
		assert.NoError(t, slow.died())
	})
}

// write has whoever leads write something.
func (c *trio) write() {
	for _, n := range c.others(nil) {
		if n.raft.State() == raft.Leader {
			n.raft.Apply([]byte("x"), time.Second)
		}
	}
}

func TestReadinessNamesTheCallThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var muted []bool
		dog := newWatchdog(func(m bool) { muted = append(muted, m) }, func(err error) { t.Error(err) }, hclog.NewNullLogger())
		first := dog.watch("write log entries")
		time.Sleep(stallThreshold / 2)
		second := dog.watch("write LastVote")
		synctest.Wait()
		require.NoError(t, dog.ready())
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.ErrorContains(t, dog.ready(), "write log entries has not returned for 2.5s")
		first()
		require.ErrorContains(t, dog.ready(), "write LastVote has not returned for 2s")
		require.Equal(t, []bool{true}, muted)
		second()
		require.NoError(t, dog.ready())
		require.Equal(t, []bool{true, false}, muted)
		time.Sleep(time.Hour)
	})
}
