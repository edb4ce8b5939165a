package sim

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/jepsen/nemesis"
)

func TestWhatAilsAPlaceStaysWhenItsFilesChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &testbed{places: map[string]*place{"a": {id: "a", disk: newDisk(0, 1)}}}
		ill := nemesis.Disk{SyncError: true}
		require.NoError(t, b.Disk("a", ill))
		require.NoError(t, b.Keep("a"))
		require.NoError(t, b.Disk("a", nemesis.Disk{}))
		_, err := b.Damage("a", nemesis.Wipe, 1)
		require.NoError(t, err)
		assert.False(t, b.places["a"].disk.ails())
		require.NoError(t, b.Restore("a"))
		assert.False(t, b.places["a"].disk.ails(), "it was ill when it was kept, and is not now")

		require.NoError(t, b.Disk("a", ill))
		_, err = b.Damage("a", nemesis.Wipe, 1)
		require.NoError(t, err)
		assert.True(t, b.places["a"].disk.ails())
	})
}

func TestAllSimulatedClocksAreRight(t *testing.T) {
	b := &testbed{}
	require.NoError(t, b.Clock("a", 0))
	require.ErrorIs(t, b.Clock("a", time.Second), nemesis.ErrUnsupported)
}
