package testbed_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/jepsen/history"
	"github.com/leasehold/leasehold/jepsen/nemesis"
	"github.com/leasehold/leasehold/jepsen/testbed"
)

// asRoot skips a test where mode Root is not possible, and says why.
func asRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 || os.Getenv("JEPSEN_INSIDE") != string(testbed.Root) {
		t.Skip("mode root is not possible here: " + os.Getenv("JEPSEN_WHY"))
	}
}

func TestRootCutsDelaysLosesAndResets(t *testing.T) {
	asRoot(t)
	b := open(t, testbed.Options{Mode: testbed.Auto})
	assert.Equal(t, testbed.Root, b.Mode())
	assert.Empty(t, b.Why())
	leader, others := b.leader()
	apart, other := others[0], others[1]
	b.create(apart, "first")

	// Cut off from its peers, a node learns nothing, and catches up afterwards.
	for _, node := range []string{leader, other} {
		require.NoError(t, b.Link(node, apart, nemesis.Condition{Drop: true}))
	}
	b.create(leader, "cut")
	revision := b.sample(leader, anything).Revision
	b.sample(other, func(s history.Sample) bool { return s.Revision >= revision })
	assert.Less(t, b.sample(apart, anything).Revision, revision)
	for _, node := range []string{leader, other} {
		require.NoError(t, b.Link(node, apart, nemesis.Condition{}))
	}
	b.sample(apart, func(s history.Sample) bool { return s.Revision >= revision && s.Ready })

	// Only the way back is cut: the write takes effect and nobody is told.
	b.create(leader, "warm")
	before := b.sample(leader, anything).Revision
	require.NoError(t, b.Link(leader, nemesis.Client, nemesis.Condition{Drop: true}))
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, _, err := b.request(ctx, leader, http.MethodPost, leases, lease("unheard"))
		failed <- err
	}()
	b.sample(leader, func(s history.Sample) bool { return s.Revision > before })
	cancel()
	require.ErrorIs(t, <-failed, context.Canceled)

	require.NoError(t, b.Link(leader, nemesis.Client, nemesis.Condition{Reset: true}))
	_, _, err := b.request(t.Context(), leader, http.MethodGet, "/livez", "")
	require.Error(t, err)

	require.NoError(t, b.Link(leader, nemesis.Client, nemesis.Condition{Delay: 300 * time.Millisecond, Jitter: 50 * time.Millisecond}))
	ctx, cancel = context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, _, err = b.request(ctx, leader, http.MethodGet, "/livez", "")
	require.ErrorIs(t, err, context.DeadlineExceeded, "an answer came sooner than the delay")
	assert.True(t, b.has(leader, "unheard"))

	require.NoError(t, b.Link(leader, nemesis.Client, nemesis.Condition{Loss: 1}))
	ctx, cancel = context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, _, err = b.request(ctx, leader, http.MethodGet, "/livez", "")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, b.Link(leader, nemesis.Client, nemesis.Condition{Loss: 0.2}))
	assert.True(t, b.has(leader, "unheard"), "a fifth is lost, and sent again")
}

func TestPowerLossTakesWhatWasNotSyncedAndKeepsWhatWas(t *testing.T) {
	asRoot(t)
	b := open(t, testbed.Options{Mode: testbed.Root})
	b.create("n1", "kept")
	firm := filepath.Join(b.DataDir("n2"), "firm")
	file, err := os.Create(firm)
	require.NoError(t, err)
	_, err = file.WriteString("synced")
	require.NoError(t, err)
	require.NoError(t, file.Sync())
	_, err = file.WriteString(" and not synced")
	require.NoError(t, err)
	require.NoError(t, file.Close())
	later := filepath.Join(b.DataDir("n2"), "later")
	require.NoError(t, os.WriteFile(later, []byte("not synced"), 0o600))

	require.NoError(t, b.PowerLoss(b.Nodes()...))
	assert.False(t, b.Alive("n1"))
	assert.NoFileExists(t, later)
	text, err := os.ReadFile(firm)
	require.NoError(t, err)
	assert.Equal(t, "synced", string(text))

	for _, node := range b.Nodes() {
		require.NoError(t, b.Start(t.Context(), node, nemesis.Life{}))
	}
	b.ready(b.Nodes()...)
	assert.True(t, b.has("n2", "kept"))
	require.NoError(t, b.Close())
	assert.FileExists(t, filepath.Join(b.Dir("n2"), "data", "raft.db"), "what was on the disks stays")
	assertNothingMounted(t, b.dir)
}

func TestFullDiskHasNotAByteLeft(t *testing.T) {
	asRoot(t)
	b := alone(t, testbed.Root)
	require.NoError(t, b.Fill("n1", true))
	err := os.WriteFile(filepath.Join(b.DataDir("n1"), "more"), make([]byte, 4<<10), 0o600)
	require.ErrorContains(t, err, "no space left")
	require.NoError(t, b.PowerLoss("n1"))
	err = os.WriteFile(filepath.Join(b.DataDir("n1"), "more"), make([]byte, 4<<10), 0o600)
	require.ErrorContains(t, err, "no space left", "it stays full until it is emptied")
	require.NoError(t, b.Fill("n1", false))
	require.NoError(t, b.Start(t.Context(), "n1", nemesis.Life{}))
	b.ready("n1")
	b.create("n1", "roomy")
}

func assertNothingMounted(t *testing.T, dir string) {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mounts")
	require.NoError(t, err)
	assert.NotContains(t, string(mounts), dir)
	assert.Empty(t, loopsUnder(t, dir))
}

// loopsUnder returns the files below a directory that loop devices hold.
func loopsUnder(t *testing.T, dir string) (held []string) {
	t.Helper()
	paths, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	require.NoError(t, err)
	for _, path := range paths {
		file, _ := os.ReadFile(path) // gone since
		if strings.Contains(string(file), dir) {
			held = append(held, string(file))
		}
	}
	return held
}
