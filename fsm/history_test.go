package fsm

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"weak"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLongHistory runs over chunks and checkpoints, forgets on the way, and asks for states and events all over the window.
func TestLongHistory(t *testing.T) {
	m, seq := filled(t, 500)
	random := rand.New(rand.NewPCG(5, 6))
	kept := map[uint64]*State{}
	for m.State().Revision() < FirstRevision+3*checkpointEvents {
		index, _ := m.Applied()
		commands := make([]Command, 1+random.IntN(400))
		for i := range commands {
			seq++
			op := []Op{OpUpdate, OpUpdate, OpUpdate, OpCreate, OpDelete}[random.IntN(5)]
			commands[i] = Command{Op: op, Session: sessionOne, Seq: seq, Mark: seq - 1, Key: leaseKey(random.IntN(600)), Object: []byte{byte(seq)}}
		}
		m.ApplyBatch([]*raft.Log{entry(index+1, 1, commands...)})
		if random.IntN(100) == 0 {
			kept[m.State().Revision()] = m.State()
		}
	}
	h := m.History()
	require.GreaterOrEqual(t, len(m.view.Load().window.checkpoints), 2)
	compare := func() {
		for revision, want := range kept {
			got, err := h.At(revision)
			if revision < h.Oldest() {
				require.ErrorIs(t, err, ErrExpired)
				continue
			}
			require.NoError(t, err)
			require.Equal(t, revision, got.Revision())
			require.Equal(t, want.Len(), got.Len())
			for object := range want.Scan("leases", "", "") {
				if found := got.Get(object.Key); found != object {
					t.Fatalf("%v at %d: %p, want %p", object.Key, revision, found, object)
				}
			}
		}
	}
	compare()

	for revision := uint64(FirstRevision); revision < m.State().Revision(); {
		events, _, err := h.After(revision, 1+random.IntN(1000))
		require.NoError(t, err)
		for _, event := range events {
			revision++
			if event.Revision != revision || event.Object.Revision != revision {
				t.Fatalf("event %d of an object at %d, want %d", event.Revision, event.Object.Revision, revision)
			}
		}
	}

	for _, back := range []uint64{100_000, 66_000, 1000, 0} {
		index, _ := m.Applied()
		oldest := m.State().Revision() - back
		m.Apply(entry(index+1, 1, Command{Op: OpCompact, Revision: oldest}))
		require.Equal(t, oldest, h.Oldest())
		require.LessOrEqual(t, len(m.view.Load().window.chunks), int(back)/chunkEvents+2)
		compare()
		_, _, err := h.After(oldest, 1)
		require.NoError(t, err)
		_, _, err = h.After(oldest-1, 1)
		require.ErrorIs(t, err, ErrExpired)
	}
	require.Zero(t, h.Bytes())
	require.Empty(t, h.past.kept, "no state is kept that the window does not hold")
}

// TestHistoryIsBoundedWithoutALeadersHelp shows the bound in bytes at work, and that what was forgotten is let go of.
func TestHistoryIsBoundedWithoutALeadersHelp(t *testing.T) {
	m := opened(t)
	m.options.TailEvents = -1
	const limit = 10 << 20
	require.Equal(t, uint64(DefaultHistoryBytes), m.History().Limit())
	applied(m, Command{Op: OpCompact, HistoryBytes: limit}, create(1, "x"))
	large := string(make([]byte, 300_000))
	for seq := range uint64(500) {
		applied(m, update(2+seq, "x", large))
		require.LessOrEqual(t, m.History().Bytes(), limit)
	}
	require.Greater(t, m.History().Bytes(), limit-2*len(large))
	require.Equal(t, m.State().Revision()-limit/(uint64(len(large))+eventBytes), m.History().Oldest())
	held := 0
	for _, chunk := range m.view.Load().window.chunks {
		held += chunk.bytes
	}
	require.Less(t, held, limit+chunkBytes+len(large), "forgotten events stay in memory for less than a chunk")

	copied := restored(t, m.options, snapshotOf(t, m))
	require.Equal(t, uint64(limit), copied.History().Limit(), "the bound is cluster state")
	for seq := range uint64(100) {
		applied(m, update(1000+seq, "x", large))
		applied(copied, update(1000+seq, "x", large))
	}
	require.Equal(t, m.History().Oldest(), copied.History().Oldest(), "a restored member forgets as the others do")
}

func TestDeletionShowsTheLastStateAtItsOwnRevision(t *testing.T) {
	m := opened(t)
	withLast := remove(2, "x")
	withLast.Object = []byte("last")
	applied(m, create(1, "x"), withLast, create(3, "y"), remove(4, "y"))
	events, _, err := m.History().After(FirstRevision, 10)
	require.NoError(t, err)
	require.Equal(t, change{
		Deleted,
		version{Key{"leases", "a", "x"}, "u-x", 1002, 1001, "last"},
		version{Key{"leases", "a", "x"}, "u-x", 1001, 1001, "x"},
	}, changeOf(events[1]))
	require.Equal(t, version{Key{"leases", "a", "y"}, "u-y", 1004, 1003, "y"}, versionOf(events[3].Object))
}

// TestObjectsKeepNothingOfTheEntry overwrites an entry after it was applied.
func TestObjectsKeepNothingOfTheEntry(t *testing.T) {
	m := opened(t)
	log := entry(2, 1, Command{Op: OpForm, Incarnations: map[string]string{"n1": "i1"}},
		Command{Op: OpOpenSession, Session: SessionID{2}, Node: "n2"}, create(1, "x"), create(2, "y"), update(3, "x", "new"), remove(4, "y"))
	m.Apply(log)
	want := snapshotOf(t, m)
	clear(log.Data)
	require.Equal(t, want, snapshotOf(t, m))
	require.Equal(t, "new", string(m.State().Get(Key{"leases", "a", "x"}).Data))
}

// TestReadersNeverSeeAnEventBeforeItsState has watches and lists at work while batches, compactions and restores go on.
// It is worth most under the race detector.
func TestReadersNeverSeeAnEventBeforeItsState(t *testing.T) {
	m := opened(t)
	const last = FirstRevision + 5000
	ctx := withDeadline(t)
	var group sync.WaitGroup
	for watch := range 8 {
		group.Go(func() {
			seen := uint64(FirstRevision)
			for {
				events, more, err := m.History().After(seen, 1+watch*20)
				if err != nil {
					if !assert.ErrorIs(t, err, ErrExpired) {
						return
					}
					seen = m.State().Revision() // as a client that lists again
					continue
				}
				for _, event := range events {
					seen++
					assert.Equal(t, seen, event.Revision)
					state := m.State()
					assert.GreaterOrEqual(t, state.Revision(), event.Revision)
					if object := state.Get(event.Object.Key); object != nil {
						assert.GreaterOrEqual(t, object.Revision, event.Revision)
					}
				}
				if seen == last {
					return
				}
				select {
				case <-more:
				case <-ctx.Done():
					assert.NoError(t, ctx.Err())
					return
				}
			}
		})
	}
	for range 4 {
		group.Go(func() {
			for m.State().Revision() < last {
				state := m.State()
				n := 0
				for object := range state.Scan("leases", "", "") {
					assert.LessOrEqual(t, object.Revision, state.Revision())
					n++
				}
				assert.Equal(t, n, state.Count("leases", "", ""))
				past, err := m.History().At(state.Revision() - state.Revision()%50)
				if err == nil {
					assert.Equal(t, state.Revision()-state.Revision()%50, past.Revision())
				} else {
					assert.ErrorIs(t, err, ErrExpired)
				}
				m.Hash()
				assert.NoError(t, m.WaitRevision(ctx, min(last, state.Revision()+3)))
			}
		})
	}
	seq := uint64(0)
	for m.State().Revision() < last {
		var commands []Command
		for range min(7, last-m.State().Revision()) {
			seq++
			name := fmt.Sprint(seq % 90)
			if m.State().Get(Key{"leases", "a", name}) == nil {
				commands = append(commands, create(seq, name))
			} else if seq%5 == 0 {
				commands = append(commands, remove(seq, name))
			} else {
				commands = append(commands, update(seq, name, fmt.Sprint(seq)))
			}
			commands[len(commands)-1].Mark = seq - 1
		}
		if seq%11 == 0 {
			commands = append(commands, Command{Op: OpCompact, Revision: m.State().Revision() - 100})
		}
		applied(m, commands...)
		if seq%1001 == 0 {
			require.NoError(t, m.Restore(readCloser(snapshotOf(t, m))))
		}
	}
	group.Wait()
}

// TestForgottenVersionsAreFreed looks from outside whether what was forgotten can be collected.
func TestForgottenVersionsAreFreed(t *testing.T) {
	m := opened(t)
	applied(m, create(1, "x"))
	var versions []weak.Pointer[Object]
	for seq := range uint64(5 * chunkEvents) {
		versions = append(versions, weak.Make(m.State().Get(Key{"leases", "a", "x"})))
		applied(m, update(2+seq, "x", "next"))
	}
	applied(m, Command{Op: OpCompact, Revision: m.State().Revision() - 10})
	runtime.GC()
	held := 0
	for _, version := range versions {
		if version.Value() != nil {
			held++
		}
	}
	assert.LessOrEqual(t, held, chunkEvents+10, "no more than what is kept and the rest of one chunk")
	assert.GreaterOrEqual(t, held, 10)
	runtime.KeepAlive(m)
}

func TestConfigurationEntriesAdvanceTheIndex(t *testing.T) {
	m := opened(t)
	responses := m.ApplyBatch([]*raft.Log{
		{Index: 2, Term: 1, Type: raft.LogConfiguration, Data: []byte("any")},
		entry(3, 2, create(1, "x")),
		{Index: 5, Term: 3, Type: raft.LogConfiguration},
	})
	require.Equal(t, []any{nil, []Result{{Accepted, 1001}}, nil}, responses)
	index, term := m.Applied()
	require.Equal(t, []uint64{5, 3}, []uint64{index, term})

	waited := make(chan error)
	go func() { waited <- m.WaitIndex(withDeadline(t), 6) }()
	m.StoreConfiguration(6, raft.Configuration{})
	require.NoError(t, <-waited)
	index, term = m.Applied()
	require.Equal(t, []uint64{6, 3}, []uint64{index, term})
}
