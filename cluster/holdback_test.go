package cluster

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Without the holdback raft waits up to 10 s before it tries the peer again.
func TestAPeerIsLevelSoonAfterALongAbsence(t *testing.T) {
	inTrio(t, nil, func(c *trio) {
		leader := c.leader()
		away := c.others(leader)[0]
		for absence := 1; absence <= 3; absence++ {
			c.cut(away.id)
			for range 35 {
				leader.apply(t, "while away")
				time.Sleep(time.Second)
			}
			c.connect(away.id)
			healed := time.Now()
			eventually(t, time.Minute, func() bool { return len(away.machine.all()) == 35*absence })
			assert.Less(t, time.Since(healed), time.Second)
		}
		assert.Same(t, leader, c.leader())
	})
}

func TestHeldReplicationEndsWhenLeadershipIsLost(t *testing.T) {
	inTrio(t, nil, func(c *trio) {
		leader := c.leader()
		leader.apply(t, "x")
		c.cut(leader.id)
		c.leader(c.others(leader)...).apply(t, "y")
		time.Sleep(10 * time.Second)

		// Raft waits for its replication when it stops.
		stopped := make(chan error, 1)
		go func() { stopped <- leader.raft.Shutdown().Error() }()
		select {
		case err := <-stopped:
			require.NoError(t, err)
		case <-time.After(10 * time.Second):
			assert.Fail(t, "replication is held although nobody leads")
		}
	})
}

func TestHeldReplicationEndsWhenThePeerIsRemoved(t *testing.T) {
	inTrio(t, nil, func(c *trio) {
		leader := c.leader()
		away := c.others(leader)[0]
		var failed atomic.Int64
		leader.raft.RegisterObserver(raft.NewObserver(nil, false, func(o *raft.Observation) bool {
			if beat, ok := o.Data.(raft.FailedHeartbeatObservation); ok && beat.PeerID == away.id {
				failed.Add(1)
			}
			return false
		}))
		c.cut(away.id)
		leader.apply(t, "x")
		time.Sleep(10 * time.Second)
		require.NoError(t, leader.raft.RemoveServer(away.id, 0, 0).Error())
		time.Sleep(5 * time.Second)
		before := failed.Load()
		require.Positive(t, before)
		time.Sleep(5 * time.Second)
		assert.Equal(t, before, failed.Load(), "heartbeats go on as long as replication is held")
	})
}
