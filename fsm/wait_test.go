package fsm

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var sessionOne = SessionID{1}

// opened returns a machine at index 1 with sessionOne open.
func opened(t testing.TB) *Machine {
	m := New(Options{})
	results := m.Apply(entry(1, 1, Command{Op: OpOpenSession, Session: sessionOne, Node: "n1"})).([]Result)
	require.Equal(t, []Result{{Accepted, FirstRevision}}, results)
	return m
}

func create(seq uint64, name string) Command {
	return Command{Op: OpCreate, Session: sessionOne, Seq: seq, Key: Key{"leases", "a", name}, UID: "u-" + name, Object: []byte(name)}
}

func update(seq uint64, name, data string) Command {
	return Command{Op: OpUpdate, Session: sessionOne, Seq: seq, Key: Key{"leases", "a", name}, Object: []byte(data)}
}

func remove(seq uint64, name string) Command {
	return Command{Op: OpDelete, Session: sessionOne, Seq: seq, Key: Key{"leases", "a", name}}
}

func withDeadline(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func TestWaitReturnsWhenReached(t *testing.T) {
	m := opened(t)
	ctx := withDeadline(t)
	require.NoError(t, m.WaitIndex(ctx, 1))
	require.NoError(t, m.WaitRevision(ctx, FirstRevision))
	var group sync.WaitGroup
	for i := range 100 {
		group.Go(func() {
			index := uint64(2 + i/10)
			assert.NoError(t, m.WaitIndex(ctx, index))
			reached, _ := m.Applied()
			assert.GreaterOrEqual(t, reached, index)
		})
		group.Go(func() {
			revision := uint64(FirstRevision + 1 + i/10)
			assert.NoError(t, m.WaitRevision(ctx, revision))
			assert.GreaterOrEqual(t, m.State().Revision(), revision)
		})
	}
	for i := range uint64(10) {
		m.Apply(entry(2+i, 1, create(1+i, string(rune('a'+i)))))
	}
	group.Wait()
	assert.Empty(t, m.indexes.groups)
	assert.Empty(t, m.revisions.groups)
}

func TestWaitEndsWithItsContext(t *testing.T) {
	m := opened(t)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	for range 2 {
		go func() { ended <- m.WaitIndex(ctx, 7) }()
	}
	cancel()
	for range 2 {
		require.ErrorIs(t, <-ended, context.Canceled)
	}
	require.Empty(t, m.indexes.groups, "a waiter that went away leaves nothing behind")
	require.NoError(t, m.WaitIndex(ctx, 1), "what is reached already needs no wait")
}
