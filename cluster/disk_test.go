package cluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAStartWaitsForTheDiskAndSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("no space left on device")
		tries := 0
		probe := func() error {
			tries++
			switch {
			case tries <= 5:
				return full
			case tries == 6:
				time.Sleep(time.Minute)
				return full
			}
			return nil
		}
		var reasons []string
		require.NoError(t, waitForProbe(t.Context(), probe, func(reason error) {
			if reason == nil {
				reasons = append(reasons, "works")
				return
			}
			reasons = append(reasons, reason.Error())
		}))
		hangs := "disk hangs: a write and sync has not returned"
		assert.Equal(t, []string{full.Error(), hangs, full.Error(), "works"}, reasons)
	})
}

func TestAWaitForTheDiskEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		full := errors.New("no space left on device")
		err := waitForProbe(ctx, func() error { return full }, func(error) {})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, full)

		release := make(chan struct{})
		defer close(release)
		err = waitForProbe(ctx, func() error { <-release; return nil }, func(error) {})
		require.ErrorContains(t, err, "disk hangs")
	})
}

func TestTheProbeLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, waitForDisk(t.Context(), dir, func(reason error) { t.Error(reason) }))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, entries)
	require.ErrorIs(t, probeDisk(filepath.Join(dir, "missing")), os.ErrNotExist)
}
