package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/cluster"
	"github.com/leasehold/leasehold/cluster/clustertest"
	"github.com/leasehold/leasehold/fsm"
)

func TestObjectTooLargeForTheLogIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.New(t, 1, clustertest.Options{Memory: true})
		ctx := patient(t)
		_, err := c.Node(1).Propose(ctx, create("large", string(make([]byte, 5<<20))))
		require.ErrorIs(t, err, cluster.ErrTooLarge)
		_, err = c.Node(1).Propose(ctx, create("alone in its entry", string(make([]byte, 3<<20))))
		require.NoError(t, err)
		c.Close()
	})
}

func TestProposalsBeyondTheQueueAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.New(t, 3, clustertest.Options{Memory: true, Change: func(config *cluster.Config) {
			config.MaxWaitingCommands = 10
		}})
		c.WaitReady()
		node := c.Node(c.Follower())
		c.Isolate(c.Follower())
		<-node.Serving() // long enough for what is on its way to be taken back

		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		errs := make(chan error, 20)
		for i := range 20 {
			go func() {
				_, err := node.Propose(ctx, create(fmt.Sprint(i), "value"))
				errs <- err
			}()
		}
		count := make(map[error]int)
		for range 20 {
			err := <-errs
			for _, kind := range []error{cluster.ErrOverloaded, cluster.ErrUnavailable} {
				if errors.Is(err, kind) {
					count[kind]++
				}
			}
		}
		require.Equal(t, map[error]int{cluster.ErrOverloaded: 10, cluster.ErrUnavailable: 10}, count)

		again, cancelAgain := context.WithTimeout(context.Background(), time.Second)
		defer cancelAgain()
		_, err := node.Propose(again, create("again", "value"))
		require.ErrorIs(t, err, cluster.ErrUnavailable, "those whose callers have gone wait no more")
		c.Close()
	})
}

func TestClosedNodeRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.New(t, 1, clustertest.Options{Memory: true})
		c.WaitReady()
		node := c.Node(1)
		c.Close()
		_, err := node.Propose(context.Background(), create("late", "value"))
		require.ErrorIs(t, err, cluster.ErrClosed)
		require.ErrorIs(t, node.Barrier(context.Background()), cluster.ErrClosed)
		require.ErrorIs(t, node.Ready(), cluster.ErrClosed)
		<-node.Serving()
	})
}

// A session that ended under a living node (a backup was restored) is replaced, and no caller notices.
func TestEndedSessionIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.New(t, 3, clustertest.Options{Memory: true})
		c.WaitReady()
		ctx := patient(t)
		leader := c.Node(c.Leader())
		for i, node := range c.Nodes() {
			id := node.Status().ID
			_, err := node.Propose(ctx, create("before "+id, "value"))
			require.NoError(t, err)
			require.NoError(t, leader.Commit(ctx, fsm.Command{Op: fsm.OpEndSession, Node: id}))
			result, err := node.Propose(ctx, create("after "+id, "value"))
			require.NoError(t, err)
			require.Equal(t, fsm.Result{Outcome: fsm.Accepted, Revision: uint64(fsm.FirstRevision + 2*i + 2)}, result)
		}
		c.Close()
	})
}

// A session ID may be of no use before the node hears so: it was opened, the answer was lost, and it has ended since; or
// another node has taken it.
func TestSessionThatCannotBeOpenedIsReplaced(t *testing.T) {
	for name, taken := range map[string]func(id fsm.SessionID, node string) []fsm.Command{
		"ended": func(id fsm.SessionID, node string) []fsm.Command {
			return []fsm.Command{{Op: fsm.OpOpenSession, Session: id, Node: node}, {Op: fsm.OpEndSession, Node: node}}
		},
		"of another node": func(id fsm.SessionID, _ string) []fsm.Command {
			return []fsm.Command{{Op: fsm.OpOpenSession, Session: id, Node: "another"}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var silent atomic.Bool // no node calls another
				c := clustertest.New(t, 3, clustertest.Options{Memory: true, Change: func(config *cluster.Config) {
					dial := config.Dial
					config.Dial = func(ctx context.Context, id string) (net.Conn, error) {
						if silent.Load() {
							return nil, errors.New("silence")
						}
						return dial(ctx, id)
					}
				}})
				c.WaitReady()
				ctx := patient(t)
				leader, number := c.Node(c.Leader()), c.Follower()
				c.Stop(number)
				silent.Store(true)
				c.Start(number)
				node := c.Node(number)
				for _, command := range taken(node.Session(), node.Status().ID) {
					require.NoError(t, leader.Commit(ctx, command))
				}
				silent.Store(false)
				result, err := node.Propose(ctx, create("after", "value"))
				require.NoError(t, err)
				require.Equal(t, fsm.Accepted, result.Outcome)
				c.Close()
			})
		})
	}
}

func TestHistoryIsForgottenAlikeByAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.New(t, 3, clustertest.Options{Memory: true, Change: func(config *cluster.Config) {
			config.HistoryAge = cluster.MinHistoryAge
		}})
		c.WaitReady()
		ctx := context.Background()
		_, err := c.Node(1).Propose(ctx, create("early", "value"))
		require.NoError(t, err)
		time.Sleep(60 * time.Second)
		_, err = c.Node(2).Propose(ctx, create("late", "value"))
		require.NoError(t, err)
		for _, node := range c.Nodes() {
			require.EqualValues(t, fsm.FirstRevision, node.History().Oldest(), "nothing is old enough")
		}
		time.Sleep(30 * time.Second)
		for _, node := range c.Nodes() {
			require.EqualValues(t, fsm.FirstRevision+1, node.History().Oldest(), "early is")
		}
		c.Close()
	})
}

func TestSnapshotsAreTakenByBytesAndStartedFrom(t *testing.T) {
	c := clustertest.New(t, 3, clustertest.Options{Change: func(config *cluster.Config) {
		config.SnapshotBytes, config.TrailingBytes = 64<<10, 1
	}})
	c.WaitReady()
	ctx := patient(t)
	away := c.Follower()
	c.Stop(away)
	value := string(make([]byte, 4<<10))
	for i := range 100 {
		_, err := c.Nodes()[i%2].Propose(ctx, create(fmt.Sprintf("filler-%d", i), value))
		require.NoError(t, err)
	}
	c.Eventually(func() error {
		for _, node := range c.Nodes() {
			if node.Status().SnapshotIndex == 0 {
				return fmt.Errorf("%s has no snapshot", node.Status().ID)
			}
		}
		return nil
	})
	c.Start(away) // its log ends before the others' begins
	require.NoError(t, c.Node(away).Barrier(ctx))
	require.Equal(t, 100, c.Node(away).Status().Objects)

	c.Stop(c.Leader())
	require.NoError(t, c.Node(away).Barrier(ctx))
	_, err := c.Node(away).Propose(ctx, create("after", "value"))
	require.NoError(t, err)
}
