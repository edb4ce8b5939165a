package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestManagerTakesOverFromAKilledOne(t *testing.T) {
	t.Parallel()
	m := startManagers(t, 15*time.Second)
	require.NoError(t, m.first.cmd.Process.Kill())
	m.assertSuccession()
	assert.Len(t, m.lock.holders(), 2)
}

// TestManagerTakesOverFromOneThatReleases lets a manager end in order, long before its lease runs out.
func TestManagerTakesOverFromOneThatReleases(t *testing.T) {
	t.Parallel()
	m := startManagers(t, 10*patience)
	require.NoError(t, m.first.cmd.Process.Signal(syscall.SIGTERM))
	m.assertSuccession()
	holders := m.lock.holders()
	require.Len(t, holders, 3)
	assert.Empty(t, holders[1], "released")
}

// managers is two replicas of an operator, of which the first leads, and the work that they do.
type managers struct {
	t             *testing.T
	c             *cluster
	lock          *lock
	first, second *candidate
}

func startManagers(t *testing.T, duration time.Duration) *managers {
	t.Helper()
	m := &managers{t: t, c: startCluster(t)}
	leader, follower := m.c.leader()
	m.lock = m.c.watchLock(t, 6-leader-follower, "operator")
	start := func(id string, k int) *candidate {
		command := exec.Command(managerBinary, "--kubeconfig", m.c.path("kubeconfig"), "--context", nodeName(k),
			"--id", id, "--lease", "operator", "--lease-duration", duration.String())
		log, err := os.Create(m.c.path(id))
		require.NoError(t, err)
		defer log.Close()
		command.Stderr = log
		one := startCandidate(t, id, command)
		one.await(t, "standing by")
		return one
	}
	m.first = start("first", follower)
	m.first.await(t, "leading")
	m.second = start("second", leader)
	m.assertWorkDone("before", "first")
	assert.False(t, m.second.hasSaid("leading"))
	return m
}

// assertWorkDone makes some jobs and waits until they are done.
func (m *managers) assertWorkDone(prefix, by string) {
	m.t.Helper()
	jobs := m.c.leases(m.t, 1, "jobs")
	for i := range 10 {
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", prefix, i), Labels: map[string]string{"when": prefix}}}
		_, err := jobs.Create(m.t.Context(), lease, metav1.CreateOptions{})
		require.NoError(m.t, err)
	}
	require.EventuallyWithT(m.t, func(t *assert.CollectT) {
		list, err := jobs.List(m.t.Context(), metav1.ListOptions{LabelSelector: "when=" + prefix})
		require.NoError(t, err)
		for _, job := range list.Items {
			require.NotNil(t, job.Spec.HolderIdentity, job.Name)
			require.Equal(t, by, *job.Spec.HolderIdentity, job.Name)
		}
	}, patience, 50*time.Millisecond)
}

// assertSuccession is called when the first has been told to end: work goes on with the second, and the first did
// nothing after the second held the lock, nor the second before.
func (m *managers) assertSuccession() {
	m.t.Helper()
	m.second.await(m.t, "leading")
	m.assertWorkDone("after", "second")
	m.lock.awaitRenewals(2)
	m.lock.assertOneHolderAtATime()
	assert.Eventually(m.t, func() bool {
		return strings.Contains(m.c.file(m.second.id), "Server rejected event")
	}, patience, 50*time.Millisecond, "the event of a new leader goes where its lock is, and that is no place for events")

	versions := m.lock.versions()
	assert.EqualValues(m.t, 1, *versions[len(versions)-1].Spec.LeaseTransitions)
	var taken int
	for _, version := range versions {
		if *version.Spec.LeaseTransitions == 1 {
			taken = revision(m.t, &version)
			break
		}
	}
	list, err := m.c.leases(m.t, 1, "jobs").List(m.t.Context(), metav1.ListOptions{})
	require.NoError(m.t, err)
	require.Len(m.t, list.Items, 20)
	for _, job := range list.Items {
		assert.Equal(m.t, *job.Spec.HolderIdentity == "second", revision(m.t, &job) > taken, "%s, by %s", job.Name, *job.Spec.HolderIdentity)
	}
}
