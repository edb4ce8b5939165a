package testbed_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/jepsen/history"
	"github.com/leasehold/leasehold/jepsen/nemesis"
	"github.com/leasehold/leasehold/jepsen/testbed"
)

func TestClusterServesAndKeepsItsDataThroughAKillOfAll(t *testing.T) {
	t.Parallel()
	b := open(t, testbed.Options{Mode: testbed.Proxy})
	assert.Equal(t, testbed.Proxy, b.Mode())
	b.create("n1", "kept")
	assert.True(t, b.has("n2", "kept"))

	require.NoError(t, b.Kill(b.Nodes()...))
	for _, node := range b.Nodes() {
		assert.False(t, b.Alive(node), node)
		_, _, err := b.request(t.Context(), node, http.MethodGet, "/livez", "")
		assert.ErrorContains(t, err, "connection refused", node)
	}
	for _, node := range b.Nodes() {
		require.NoError(t, b.Start(t.Context(), node, nemesis.Life{}))
	}
	b.ready(b.Nodes()...)
	assert.True(t, b.has("n3", "kept"))
	assert.Empty(t, b.exits, "ends that were asked for are no news")

	log, err := os.ReadFile(filepath.Join(b.Dir("n1"), "stderr.log"))
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(string(log), "=== life 1 of n1 begins"))
	assert.Equal(t, 1, strings.Count(string(log), "=== life 2 of n1 begins"))
	argv, err := os.ReadFile(filepath.Join(b.Dir("n1"), "argv"))
	require.NoError(t, err)
	assert.Contains(t, string(argv), "serve --id n1 ")
}

func TestNodeThatEndsByItselfIsReported(t *testing.T) {
	t.Parallel()
	b := alone(t, testbed.Proxy)
	require.NoError(t, b.Kill("n1"))
	require.NoError(t, b.Start(t.Context(), "n1", nemesis.Life{Flags: []string{"--history-age", "1s"}}))
	require.Eventually(t, func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return len(b.exits) == 1
	}, patience, 10*time.Millisecond)
	assert.Equal(t, "n1", b.exits[0].Node)
	assert.Equal(t, 2, b.exits[0].Life)
	assert.Contains(t, b.exits[0].String(), "--history-age: 1s is less than 75s")
	assert.ErrorContains(t, b.AwaitReady(t.Context(), "n1"), "n1 does not run")
}

func TestStopEndsInGoodOrderAlsoWhatIsPaused(t *testing.T) {
	t.Parallel()
	b := alone(t, testbed.Proxy)
	require.NoError(t, b.Pause("n1"))
	_, err := b.Sample(t.Context(), "n1")
	require.Error(t, err, "a paused node answers nothing")
	assert.True(t, b.Alive("n1"))
	require.NoError(t, b.Resume("n1"))
	b.ready("n1")

	require.NoError(t, b.Pause("n1"))
	require.NoError(t, b.Stop(t.Context(), "n1"))
	assert.False(t, b.Alive("n1"))
	assert.NoError(t, b.Resume("n1"), "healing what is not ill is no error")
	assert.Error(t, b.Pause("n1"), "what is down cannot be paused")
}

// A write whose answer alone is lost takes effect, and nobody is told.
func TestLinkThatDropsOneWayCarriesTheOther(t *testing.T) {
	t.Parallel()
	b := alone(t, testbed.Proxy)
	b.create("n1", "first") // over a connection that stays
	before := b.sample("n1", anything).Revision
	require.NoError(t, b.Link("n1", nemesis.Client, nemesis.Condition{Drop: true}))

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	failed := make(chan error, 1)
	go func() {
		_, _, err := b.request(ctx, "n1", http.MethodPost, leases, lease("second"))
		failed <- err
	}()
	b.sample("n1", func(s history.Sample) bool { return s.Revision > before })
	cancel()
	require.ErrorIs(t, <-failed, context.Canceled)

	require.NoError(t, b.Link("n1", nemesis.Client, nemesis.Condition{}))
	assert.True(t, b.has("n1", "second"))
}

// A follower that is cut off learns nothing, and catches up once it is healed.
func TestNodeThatIsCutOffCatchesUp(t *testing.T) {
	t.Parallel()
	b := open(t, testbed.Options{Mode: testbed.Proxy})
	leader, others := b.leader()
	apart, other := others[0], others[1]
	both := func(c nemesis.Condition) {
		for _, node := range []string{leader, other} {
			require.NoError(t, b.Link(apart, node, c))
			require.NoError(t, b.Link(node, apart, c))
		}
	}
	both(nemesis.Condition{Drop: true})
	b.create(leader, "cut")
	revision := b.sample(leader, anything).Revision
	b.sample(other, func(s history.Sample) bool { return s.Revision >= revision })
	assert.Less(t, b.sample(apart, anything).Revision, revision)

	both(nemesis.Condition{})
	b.sample(apart, func(s history.Sample) bool { return s.Revision >= revision && s.Ready })
}

func TestClientsLinkCanBeCutWhileTheNodesGoOn(t *testing.T) {
	t.Parallel()
	b := alone(t, testbed.Proxy)
	require.NoError(t, b.Link(nemesis.Client, "n1", nemesis.Condition{Drop: true}))
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, _, err := b.request(ctx, "n1", http.MethodGet, "/livez", "")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = b.Sample(t.Context(), "n1")
	assert.NoError(t, err, "the harness itself looks past faults")

	require.NoError(t, b.Link(nemesis.Client, "n1", nemesis.Condition{Reset: true}))
	_, _, err = b.request(t.Context(), "n1", http.MethodGet, "/livez", "")
	require.ErrorContains(t, err, "reset")

	require.NoError(t, b.Link(nemesis.Client, "n1", nemesis.Condition{}))
	code, _, err := b.request(t.Context(), "n1", http.MethodGet, "/livez", "")
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, code)
}

func TestDelayIsAddedToWhatPasses(t *testing.T) {
	t.Parallel()
	b := alone(t, testbed.Proxy)
	const delay = 300 * time.Millisecond
	require.NoError(t, b.Link("n1", nemesis.Client, nemesis.Condition{Delay: delay, Jitter: delay / 3}))
	ctx, cancel := context.WithTimeout(t.Context(), delay/2)
	defer cancel()
	_, _, err := b.request(ctx, "n1", http.MethodGet, "/livez", "")
	require.ErrorIs(t, err, context.DeadlineExceeded, "an answer came sooner than the delay")
	code, _, err := b.request(t.Context(), "n1", http.MethodGet, "/livez", "")
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, code)
}

func TestLeadershipIsHandedOver(t *testing.T) {
	t.Parallel()
	b := open(t, testbed.Options{Mode: testbed.Proxy})
	_, others := b.leader()
	require.NoError(t, b.Transfer(t.Context(), others[1]))
	b.sample(others[1], func(s history.Sample) bool { return s.Role == "leader" })
}

func TestFaultsThatAreNotPossibleSayWhy(t *testing.T) {
	t.Parallel()
	b := alone(t, testbed.Proxy)
	for capability, do := range map[nemesis.Capability]func() error{
		nemesis.CanLosePower:   func() error { return b.PowerLoss("n1") },
		nemesis.CanFillDisk:    func() error { return b.Fill("n1", true) },
		nemesis.CanLosePackets: func() error { return b.Link("n1", nemesis.Client, nemesis.Condition{Loss: 0.5}) },
		nemesis.CanSetClock:    func() error { return b.Clock("n1", time.Second) },
	} {
		assert.ErrorIs(t, b.Supports(capability), nemesis.ErrUnsupported, capability)
		assert.ErrorIs(t, do(), nemesis.ErrUnsupported, capability)
	}
	assert.True(t, b.Alive("n1"), "a power loss that is not possible kills nobody")
	assert.NoError(t, b.Supports(nemesis.CanDelay))
	for _, link := range []error{
		b.Link("n1", "n7", nemesis.Condition{Drop: true}),
		b.Link("n1", "n1", nemesis.Condition{Drop: true}),
		b.Link("n1", nemesis.Client, nemesis.Condition{Loss: 2}),
	} {
		assert.Error(t, link)
		assert.False(t, errors.Is(link, nemesis.ErrUnsupported))
	}
}

func TestCloseLeavesNoProcess(t *testing.T) {
	t.Parallel()
	b := open(t, testbed.Options{Mode: testbed.Proxy})
	pids := serversUnder(t, b.dir)
	require.Len(t, pids, 3)
	require.NoError(t, b.Pause("n2"))
	require.NoError(t, b.Link("n1", "n3", nemesis.Condition{Drop: true}))
	require.NoError(t, b.Close())
	assert.Empty(t, serversUnder(t, b.dir))
}

// serversUnder returns the processes whose command line names a directory.
func serversUnder(t *testing.T, dir string) (pids []int) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	require.NoError(t, err)
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		line, _ := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline")) // gone since, or not ours
		if strings.Contains(string(line), dir) {
			pids = append(pids, pid)
		}
	}
	return pids
}
