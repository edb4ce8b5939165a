package cluster

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSnapshotsInARowComeEverSlower(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closed := make(chan struct{})
		i := &installs{logger: hclog.NewNullLogger(), closed: closed}
		var pauses []time.Duration
		for range 11 {
			start := time.Now()
			require.NoError(t, i.wait("b", 7))
			pauses = append(pauses, time.Since(start)/time.Second)
		}
		assert.Equal(t, []time.Duration{0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60}, pauses)

		i.progressed("b")
		start := time.Now()
		require.NoError(t, i.wait("b", 7))
		require.NoError(t, i.wait("b", 7))
		assert.Zero(t, time.Since(start))

		i.attach(func(raft.ServerID, uint64) bool { return false })
		require.ErrorIs(t, i.wait("b", 7), errReleased)
		i.attach(func(raft.ServerID, uint64) bool { return true })
		close(closed)
		require.ErrorIs(t, i.wait("b", 7), raft.ErrTransportShutdown)
	})
}
