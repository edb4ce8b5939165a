package cluster

import (
	"testing"
	"time"

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
		next := c.leader(c.others(leader)...)
		next.apply(t, "y")
		time.Sleep(10 * time.Second)
		c.connect(leader.id)
		eventually(t, 10*time.Second, func() bool { return len(leader.machine.all()) == 2 })
		require.NoError(t, leader.died())
	})
	// stop waits for raft's goroutines, and synctest for all others: a held call that stayed would be a deadlock.
}
