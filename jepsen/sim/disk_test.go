package sim

import (
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/jepsen/nemesis"
)

func TestWhatADiskHasTakenOutlivesItsUserAndWhatItHasNotMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		there := 0
		for seed := range uint64(64) {
			d := newDisk(time.Millisecond, seed)
			require.NoError(t, d.StoreLogs([]*raft.Log{{Index: 1, Data: []byte("a")}, {Index: 2}}))
			require.NoError(t, d.SetUint64([]byte("term"), 7))
			written := make(chan error)
			go func() { written <- d.StoreLogs([]*raft.Log{{Index: 3}, {Index: 4}}) }()
			synctest.Wait() // it is under way
			next := d.split()
			require.NoError(t, <-written)

			var log raft.Log
			require.NoError(t, next.GetLog(1, &log))
			require.Equal(t, "a", string(log.Data))
			term, err := next.GetUint64([]byte("term"))
			require.NoError(t, err)
			require.EqualValues(t, 7, term)
			last, err := next.LastIndex()
			require.NoError(t, err)
			require.Contains(t, []uint64{2, 4}, last, "whole or not at all")
			if last == 4 {
				there++
			}
			require.NoError(t, d.DeleteRange(1, 4), "what the dead do")
			require.NoError(t, next.GetLog(1, &log), "is not felt")
		}
		assert.Greater(t, there, 10)
		assert.Less(t, there, 54)
	})
}

func TestADiskThatAilsSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisk(0, 1)
		d.set(nemesis.Disk{SyncError: true})
		assert.ErrorIs(t, d.StoreLog(&raft.Log{Index: 1}), syscall.EIO)
		d.set(nemesis.Disk{})
		d.fill(true)
		assert.ErrorIs(t, d.Set([]byte("a"), nil), syscall.ENOSPC)
		assert.True(t, d.with(content{}).ails(), "another content does not heal it")
		d.fill(false)
		assert.False(t, d.ails())
		d.set(nemesis.Disk{SyncDelay: time.Minute})
		began := time.Now()
		require.NoError(t, d.StoreLog(&raft.Log{Index: 1}))
		assert.Equal(t, time.Minute, time.Since(began))
	})
}

func TestDisksKeepTheNewestSnapshots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisk(0, 1)
		for index := uint64(1); index <= 3; index++ {
			sink, err := snapshots{d}.Create(1, index, 1, raft.Configuration{}, 1, nil)
			require.NoError(t, err)
			_, err = sink.Write([]byte("state"))
			require.NoError(t, err)
			listed, err := snapshots{d}.List()
			require.NoError(t, err)
			require.Len(t, listed, min(int(index)-1, keptSnapshots), "not before it is closed")
			require.NoError(t, sink.Close())
		}
		listed, err := snapshots{d}.List()
		require.NoError(t, err)
		require.Len(t, listed, keptSnapshots)
		assert.EqualValues(t, 3, listed[0].Index)
		assert.EqualValues(t, 5, listed[0].Size)
		assert.Equal(t, 3, d.snapshots())
	})
}
