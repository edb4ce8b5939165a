package testbed_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/jepsen/nemesis"
	"github.com/leasehold/leasehold/jepsen/testbed"
)

func TestDamageIsDecidedByItsSeedAndCanBeTakenBack(t *testing.T) {
	t.Parallel()
	b := alone(t, testbed.Proxy)
	b.create("n1", "kept")
	_, err := b.Damage("n1", nemesis.FlipBit, 1)
	require.ErrorContains(t, err, "the node runs")
	require.NoError(t, b.Kill("n1"))
	require.NoError(t, b.Keep("n1"))
	log := filepath.Join(b.DataDir("n1"), "raft.db")
	whole, err := os.ReadFile(log)
	require.NoError(t, err)

	said := map[string]bool{}
	for _, seed := range []uint64{1, 2, 2} {
		done, err := b.Damage("n1", nemesis.FlipBit, seed)
		require.NoError(t, err)
		said[done] = true
		hurt, err := os.ReadFile(log)
		require.NoError(t, err)
		assert.Equal(t, 1, differences(whole, hurt), done)
		require.NoError(t, b.Restore("n1"))
	}
	assert.Len(t, said, 2, "two seeds, two damages")

	done, err := b.Damage("n1", nemesis.Truncate, 1)
	require.NoError(t, err)
	short, err := os.ReadFile(log)
	require.NoError(t, err)
	assert.Less(t, len(short), len(whole), done)
	assert.Equal(t, whole[:len(short)], short)

	_, err = b.Damage("n1", nemesis.TearLastBit, 1)
	require.ErrorIs(t, err, nemesis.ErrUnsupported, "there is no snapshot")

	_, err = b.Damage("n1", nemesis.Wipe, 1)
	require.NoError(t, err)
	left, err := os.ReadDir(filepath.Join(b.DataDir("n1")))
	require.NoError(t, err)
	assert.Empty(t, left)

	require.NoError(t, b.Restore("n1"))
	require.NoError(t, b.Start(t.Context(), "n1", nemesis.Life{}))
	b.ready("n1")
	assert.True(t, b.has("n1", "kept"))
}

// differences counts the bytes that differ.
func differences(a, b []byte) int {
	if len(a) != len(b) {
		return len(a) + len(b)
	}
	count := 0
	for i := range a {
		if a[i] != b[i] {
			count++
		}
	}
	return count
}
