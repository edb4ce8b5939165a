package testbed_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/jepsen/nemesis"
	"github.com/leasehold/leasehold/jepsen/testbed"
)

func TestSlowDiskHoldsWritesBackAndLetsThemGo(t *testing.T) {
	t.Parallel()
	b := alone(t, testbed.Proxy)
	if err := b.Supports(nemesis.CanStallDisk); err != nil {
		t.Skip(err)
	}
	require.NoError(t, b.Kill("n1"))
	require.NoError(t, b.Disk("n1", nemesis.Disk{SyncDelay: 20 * time.Millisecond}))
	require.NoError(t, b.Start(t.Context(), "n1", nemesis.Life{}))
	assert.NotZero(t, tracerOf(t, b), "what was set while it was down holds")
	b.ready("n1")
	b.create("n1", "slow")

	require.NoError(t, b.Disk("n1", nemesis.Disk{SyncDelay: time.Hour}))
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, _, err := b.request(ctx, "n1", http.MethodPost, leases, lease("stuck"))
	require.ErrorIs(t, err, context.DeadlineExceeded)

	require.NoError(t, b.Disk("n1", nemesis.Disk{}))
	assert.Zero(t, tracerOf(t, b))
	require.Eventually(t, func() bool { return b.Alive("n1") && b.has("n1", "stuck") }, patience, 20*time.Millisecond)
	b.create("n1", "free")
}

func TestFailingDiskIsFelt(t *testing.T) {
	t.Parallel()
	b := alone(t, testbed.Proxy)
	if err := b.Supports(nemesis.CanStallDisk); err != nil {
		t.Skip(err)
	}
	require.NoError(t, b.Disk("n1", nemesis.Disk{SyncError: true, WriteError: true}))
	code, _, err := b.request(t.Context(), "n1", http.MethodPost, leases, lease("lost"))
	require.True(t, err != nil || code >= 500, "a write succeeded on a disk that fails: %d", code)
	require.Eventually(t, func() bool { return !b.Alive("n1") }, patience, 10*time.Millisecond, "the end of a node that gives up is seen")
	require.NoError(t, b.Disk("n1", nemesis.Disk{}))
	require.NoError(t, b.Start(t.Context(), "n1", nemesis.Life{}))
	b.ready("n1")
	b.create("n1", "kept")
}

// tracerOf returns the number of the process that traces n1, or 0.
func tracerOf(t *testing.T, b *bed) (tracer int) {
	t.Helper()
	for _, pid := range serversUnder(t, b.dir) {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		require.NoError(t, err)
		for line := range strings.Lines(string(status)) {
			_, _ = fmt.Sscanf(line, "TracerPid: %d", &tracer) // other lines do not fit
		}
	}
	return tracer
}
