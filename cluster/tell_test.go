package cluster_test

import (
	"bytes"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/cluster"
	"github.com/leasehold/leasehold/cluster/clustertest"
)

// slowLogs take a while to write.
type slowLogs struct {
	raft.LogStore
	writing *atomic.Int64 // nanoseconds
}

func (s slowLogs) StoreLogs(logs []*raft.Log) error {
	time.Sleep(time.Duration(s.writing.Load()))
	return s.LogStore.StoreLogs(logs)
}

// The majority has an entry before the slowest voter has it. That one must be told of the commit all the same, when it
// has the entry and not before: told too early it refuses, and says so in its log.
func TestSlowestVoterIsToldWhenItHasTheEntry(t *testing.T) {
	const writing = 7 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		var mu sync.Mutex // guards log
		times := make(map[string]*atomic.Int64)
		c := clustertest.New(t, 3, clustertest.Options{
			Memory: true,
			Logger: hclog.New(&hclog.LoggerOptions{Level: hclog.Warn, Output: &log, Mutex: &mu}),
			Change: func(config *cluster.Config) {
				times[config.ID] = new(atomic.Int64)
				config.Logs = slowLogs{config.Logs, times[config.ID]}
			},
		})
		c.WaitReady()
		leader, slow := c.Node(c.Leader()), c.Node(c.Follower())
		mu.Lock()
		log.Reset() // an election has such lines of its own
		mu.Unlock()
		times[slow.Status().ID].Store(int64(writing))
		for range 100 {
			began := time.Now()
			result, err := leader.Propose(patient(t), create(began.String(), "value"))
			require.NoError(t, err)
			require.Zero(t, time.Since(began), "two have it")
			require.NoError(t, slow.WaitRevision(patient(t), result.Revision))
			require.LessOrEqual(t, time.Since(began), writing)
		}
		c.Close()
		require.NotContains(t, log.String(), "previous log")
	})
}
