package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLockOfAKilledHolderGoesToAnotherCandidate(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	leader, follower := c.leader()
	lock := c.watchLock(t, leader, "contended")
	candidates := c.startCandidates("contended", follower)
	require.NoError(t, candidates[follower].cmd.Process.Kill())

	holders := lock.awaitHolders(2)
	lock.awaitRenewals(2)
	lock.assertOneHolderAtATime()
	for k, one := range candidates {
		if k != follower {
			assert.Equal(t, one.id == holders[1], one.hasSaid("leading"), "only %s leads", holders[1])
		}
	}
}

func TestLeaseLockSurvivesTheLossOfTheLeader(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	leader, follower := c.leader()
	lock := c.watchLock(t, 6-leader-follower, "survivor")
	candidates := c.startCandidates("survivor", follower)
	c.kill(leader)
	next, _ := c.leader()
	require.NotEqual(t, leader, next)

	// The lock is worth what it says only after renewals that went through the new leader.
	lock.awaitRenewals(3)
	lock.assertOneHolderAtATime()
	assert.Equal(t, []string{candidates[follower].id}, lock.holders())
	assert.False(t, candidates[follower].hasSaid("lost"))
}

// TestLockOfAHolderWhoseNodeDiesGoesToAnotherCandidate kills the node that the holder speaks to, and no other is in its kubeconfig; and that
// node leads.
func TestLockOfAHolderWhoseNodeDiesGoesToAnotherCandidate(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	leader, follower := c.leader()
	lock := c.watchLock(t, follower, "stranded")
	candidates := c.startCandidates("stranded", leader)
	c.kill(leader)

	candidates[leader].await(t, "lost")
	holders := lock.awaitHolders(2)
	assert.NotEqual(t, candidates[leader].id, holders[1])
	lock.awaitRenewals(2)
	lock.assertOneHolderAtATime()
}
