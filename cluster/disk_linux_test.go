package cluster

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheProbeSeesAFullDisk(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Symlink("/dev/full", filepath.Join(dir, diskProbeFile)))
	require.ErrorIs(t, probeDisk(dir), syscall.ENOSPC)
	require.NoError(t, probeDisk(dir), "with room again")
}
