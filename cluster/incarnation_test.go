package cluster

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A directory that lost its log alone is as empty as one made anew, though the name is still there.
func TestADirectoryThatLostItsLogIsAnother(t *testing.T) {
	dir := t.TempDir()
	name, err := incarnation(dir)
	require.NoError(t, err)
	require.NoError(t, createBolt(filepath.Join(dir, boltFile)))
	again, err := incarnation(dir)
	require.NoError(t, err)
	require.Equal(t, name, again)

	require.NoError(t, os.Remove(filepath.Join(dir, boltFile)))
	without, err := incarnation(dir)
	require.NoError(t, err)
	require.NotEqual(t, name, without)
}

func TestADirectoryThatLostItsNameIsDamaged(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, createBolt(filepath.Join(dir, boltFile)))
	_, err := incarnation(dir)
	require.ErrorIs(t, err, errDamaged)
	require.NoError(t, os.WriteFile(filepath.Join(dir, incarnationFile), nil, 0o600))
	_, err = incarnation(dir)
	require.ErrorIs(t, err, errDamaged)
}
