package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/cluster"
	"github.com/leasehold/leasehold/cluster/clustertest"
)

func TestLeadershipGoesToTheNodeNamedWhoeverIsAsked(t *testing.T) {
	c := clustertest.New(t, 3, clustertest.Options{})
	c.WaitReady()
	ctx := patient(t)
	for asked := range 3 {
		for _, to := range []string{"node-1", "node-3", "node-2"} {
			var leader string
			c.Eventually(func() (err error) { // the node asked may not know of the last leader yet
				leader, err = c.Node(asked+1).TransferLeadership(ctx, to)
				return err
			})
			require.Equal(t, to, leader)
			c.Eventually(func() error {
				if role := c.Nodes()[int(to[5]-'1')].Summary().Role; role != "leader" {
					return fmt.Errorf("%s is %s", to, role)
				}
				return nil
			})
			_, err := c.Node(asked+1).Propose(ctx, create(fmt.Sprintf("%d-%s", asked, to), "value"))
			require.NoError(t, err)
		}
	}
}

func TestLeadershipGoesToAnotherIfNoneIsNamed(t *testing.T) {
	c := clustertest.New(t, 3, clustertest.Options{})
	c.WaitReady()
	former := c.Leader()
	leader, err := c.Node(c.Follower()).TransferLeadership(patient(t), "")
	require.NoError(t, err)
	require.NotEqual(t, fmt.Sprintf("node-%d", former), leader)
}

func TestTheLeaderNeedNotBeToldToLead(t *testing.T) {
	c := clustertest.New(t, 3, clustertest.Options{})
	c.WaitReady()
	leader := c.Node(c.Leader())
	before := leader.Summary()
	got, err := leader.TransferLeadership(patient(t), before.ID)
	require.NoError(t, err)
	assert.Equal(t, before.ID, got)
	assert.Equal(t, before.Term, leader.Summary().Term)
}

func TestLeadershipStaysWhereNobodyCanTakeIt(t *testing.T) {
	c := clustertest.New(t, 3, clustertest.Options{})
	c.WaitReady()
	number := c.Leader()
	leader := c.Node(number)
	_, err := leader.TransferLeadership(patient(t), "node-9")
	assert.ErrorIs(t, err, cluster.ErrNotVoter)
	assert.Equal(t, "leader", leader.Summary().Role)

	absent := number%3 + 1
	c.Isolate(absent)
	_, err = leader.TransferLeadership(patient(t), fmt.Sprintf("node-%d", absent))
	assert.ErrorIs(t, err, cluster.ErrUnavailable)

	c.Isolate(number)
	c.Eventually(func() error {
		if leader.Summary().Leader != "" {
			return errors.New("the leader has not resigned")
		}
		return nil
	})
	_, err = leader.TransferLeadership(patient(t), "")
	assert.ErrorIs(t, err, cluster.ErrUnavailable)

	alone := clustertest.New(t, 1, clustertest.Options{})
	alone.WaitReady()
	_, err = alone.Node(1).TransferLeadership(patient(t), "")
	assert.ErrorIs(t, err, cluster.ErrUnavailable)
}

// What is proposed while the leadership moves is neither refused nor done twice.
func TestProposalsOutliveATransfer(t *testing.T) {
	c := clustertest.New(t, 3, clustertest.Options{})
	c.WaitReady()
	ctx, stop := context.WithCancel(patient(t))
	written := make(chan int)
	go func() {
		count := 0
		defer func() { written <- count }()
		for ctx.Err() == nil {
			deadline, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			result, err := c.Node(1).Propose(deadline, create(fmt.Sprintf("w-%d", count), "value"))
			cancel()
			if !assert.NoError(t, err) || !assert.Equal(t, uint64(count+1), result.Revision-1000) {
				return
			}
			count++
		}
	}()
	for i := range 6 {
		c.Eventually(func() error {
			_, err := c.Node(2).TransferLeadership(patient(t), fmt.Sprintf("node-%d", i%3+1))
			return err
		})
	}
	stop()
	assert.Positive(t, <-written)
}
