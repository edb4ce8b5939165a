package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/cluster"
	"github.com/leasehold/leasehold/cluster/clustertest"
	"github.com/leasehold/leasehold/fsm"
)

// counter is one object that one writer counts up. It knows which values the object may have.
type counter struct {
	name      string
	confirmed int // acknowledged
	uncertain int // further increments that may have been made
}

// increment reads on node, and proposes one more with what it read as precondition.
func (w *counter) increment(ctx context.Context, node *cluster.Node) error {
	if err := node.Barrier(ctx); err != nil {
		return err
	}
	object := node.State().Get(key(w.name))
	value, command := 0, create(w.name, "1")
	if object != nil {
		value, _ = strconv.Atoi(string(object.Data))
		command.Op = fsm.OpUpdate
		command.Object = strconv.AppendInt(nil, int64(value+1), 10)
		command.Expect = fsm.Expect{Revision: object.Revision, UID: object.UID}
	}
	if value < w.confirmed || value > w.confirmed+w.uncertain {
		return fmt.Errorf("%w: %s is %d after %d acknowledged and %d uncertain increments", errWrong, w.name, value, w.confirmed, w.uncertain)
	}
	w.confirmed, w.uncertain = value, w.uncertain-(value-w.confirmed)
	result, err := node.Propose(ctx, command)
	switch {
	case errors.Is(err, cluster.ErrUnknownOutcome):
		w.uncertain++
	case err == nil && result.Outcome == fsm.Accepted:
		w.confirmed++
		w.uncertain = 0 // what had been uncertain had the same precondition and can no longer apply
	case err == nil && w.uncertain == 0:
		return fmt.Errorf("%w: %s refused with outcome %d though nobody else writes", errWrong, w.name, result.Outcome)
	}
	return err
}

var errWrong = errors.New("wrong")

func TestCrashesUnderLoadLoseAndDoubleNothing(t *testing.T) {
	c := clustertest.New(t, 3, clustertest.Options{})
	c.WaitReady()
	var (
		mu       sync.RWMutex // guards the cluster's nodes while one is down
		stop     atomic.Bool
		counters [12]counter
		wrong    = make(chan error, len(counters))
		writers  sync.WaitGroup
		written  atomic.Int64
	)
	for i := range counters {
		w := &counters[i]
		w.name = fmt.Sprintf("counter-%d", i)
		writers.Go(func() {
			for n := i; !stop.Load(); n++ {
				mu.RLock()
				node := c.Node(n%3 + 1)
				mu.RUnlock()
				if node == nil {
					continue
				}
				ctx, cancel := context.WithTimeout(context.Background(), 2500*time.Millisecond)
				err := w.increment(ctx, node)
				cancel()
				if errors.Is(err, errWrong) {
					wrong <- err
					return
				}
				if err == nil {
					written.Add(1)
				}
			}
		})
	}
	more := func(n int64) {
		target := written.Load() + n
		c.Eventually(func() error {
			if written.Load() < target && len(wrong) == 0 {
				return errors.New("too few writes")
			}
			return nil
		})
	}
	for range 4 {
		more(100)
		leader := c.Leader()
		mu.Lock()
		c.Crash(leader)
		mu.Unlock()
		more(100)
		mu.Lock()
		c.Start(leader)
		mu.Unlock()
	}
	for i := range 3 { // all at once
		mu.Lock()
		c.Crash(i + 1)
		mu.Unlock()
	}
	mu.Lock()
	for i := range 3 {
		c.Start(i + 1)
	}
	mu.Unlock()
	more(100)
	stop.Store(true)
	writers.Wait()
	close(wrong)
	for err := range wrong {
		require.NoError(t, err)
	}
	ctx := patient(t)
	for i := range counters {
		for _, node := range c.Nodes() {
			require.NoError(t, node.Barrier(ctx))
			value, err := strconv.Atoi(stored(node, counters[i].name))
			require.NoError(t, err)
			require.GreaterOrEqual(t, value, counters[i].confirmed)
			require.LessOrEqual(t, value, counters[i].confirmed+counters[i].uncertain)
		}
	}
	c.Eventually(func() error { // the same entries, the same state
		first := c.Node(1).Status()
		for _, node := range c.Nodes() {
			if s := node.Status(); s.HashIndex != first.HashIndex || s.Hash != first.Hash {
				return fmt.Errorf("%s: %s at %d, %s: %s at %d", first.ID, first.Hash, first.HashIndex, s.ID, s.Hash, s.HashIndex)
			}
		}
		return nil
	})
	t.Logf("%d increments", written.Load())
}

// A node whose data directory was emptied has forgotten its votes. It must not take part under its old ID.
func TestWipedNodeIsRefused(t *testing.T) {
	exits := make(chan error, 16)
	c := clustertest.New(t, 3, clustertest.Options{Change: func(config *cluster.Config) {
		config.Exit = func(err error) { exits <- err }
	}})
	c.WaitReady()
	for _, number := range []int{1, 3} {
		c.Stop(number)
		c.Wipe(number)
		c.Start(number)
		require.ErrorIs(t, <-exits, cluster.ErrWiped)
		require.Error(t, c.Node(number).Ready())
		require.Nil(t, c.Node(number).Raft(), "it takes no part")
		c.Stop(number)
		c.Restore(number)
		c.Start(number)
		c.WaitReady()
	}
}

// A node that started from another's data would have forgotten its own votes just the same.
func TestDataOfAnotherNodeIsRefused(t *testing.T) {
	c := clustertest.New(t, 3, clustertest.Options{})
	c.WaitReady()
	c.Stop(1)
	c.Stop(2)
	c.Swap(1, 2)
	require.ErrorContains(t, c.TryStart(1), "holds the data of node node-2")
	require.ErrorContains(t, c.TryStart(2), "holds the data of node node-1")
	c.Swap(1, 2)
	c.Start(1)
	c.Start(2)
	c.WaitReady()
}

func TestFollowerBarrierSeesWhatWasAcknowledged(t *testing.T) {
	c := clustertest.New(t, 3, clustertest.Options{})
	ctx := patient(t)
	leader, follower := c.Node(c.Leader()), c.Node(c.Follower())
	for i := range 200 {
		name := fmt.Sprintf("written-%d", i)
		_, err := leader.Propose(ctx, create(name, "value"))
		require.NoError(t, err)
		require.NoError(t, follower.Barrier(ctx))
		require.Equal(t, "value", stored(follower, name))
	}
}

func TestCloseLeavesNoGoroutines(t *testing.T) {
	before := goroutines()
	c := clustertest.New(t, 3, clustertest.Options{})
	ctx := patient(t)
	for _, node := range c.Nodes() {
		_, err := node.Propose(ctx, create(node.Status().ID, "value"))
		require.NoError(t, err)
	}
	c.Close()
	c.Eventually(func() error { // those of Raft's transport end a little later, by themselves
		for name, stack := range goroutines() {
			if _, ok := before[name]; !ok {
				return errors.New(stack)
			}
		}
		return nil
	})
}

// goroutines returns the stacks of all goroutines of nodes, by the goroutine's number. Nodes that crashed leave some.
func goroutines() map[string]string {
	stacks := make([]byte, 4<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	found := make(map[string]string)
	for _, stack := range strings.Split(string(stacks), "\n\n")[1:] {
		if strings.Contains(stack, "leasehold/cluster.") || strings.Contains(stack, "hashicorp/raft") {
			name, _, _ := strings.Cut(stack, " [")
			found[name] = stack
		}
	}
	return found
}
