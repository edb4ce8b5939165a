package fsm

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lively returns a machine that has something of everything that a snapshot holds.
func lively(t testing.TB) *Machine {
	m := opened(t)
	m.Apply(entry(2, 3, Command{Op: OpForm, Incarnations: map[string]string{"n1": "i1", "n2": "i2"}}))
	m.Apply(entry(3, 3, Command{Op: OpOpenSession, Session: SessionID{7}, Node: "n2"}))
	m.Apply(entry(4, 3, Command{Op: OpOpenSession, Session: SessionID{8}, Node: "n2"}))
	m.Apply(entry(5, 3, create(1, "x"), create(2, "y"), create(2, "other"), create(3, "x")))
	m.Apply(entry(6, 4, update(4, "x", "second"), update(5, "x", "third"), remove(6, "y"), create(7, "y"), update(8, "none", "")))
	return m
}

func TestSnapshotRestoreIsIdentity(t *testing.T) {
	m := lively(t)
	snapshot := snapshotOf(t, m)
	copied := restored(t, Options{}, snapshot)
	require.Equal(t, snapshot, snapshotOf(t, copied))
	require.Equal(t, versions(m.State(), "leases", "", ""), versions(copied.State(), "leases", "", ""))
	require.Equal(t, FirstRevision, int(copied.History().Oldest()))
	require.Equal(t, m.History().Bytes(), copied.History().Bytes())
	want, _, err := m.History().After(FirstRevision, 100)
	require.NoError(t, err)
	got, _, err := copied.History().After(FirstRevision, 100)
	require.NoError(t, err)
	require.Len(t, got, 6)
	for i := range want {
		require.Equal(t, changeOf(want[i]), changeOf(got[i]))
	}
	require.Same(t, copied.State().Get(Key{"leases", "a", "x"}), got[3].Object, "one version is one object")
	require.Same(t, got[2].Object, got[3].Previous)
	index, term := copied.Applied()
	require.Equal(t, []uint64{6, 4}, []uint64{index, term})
	incarnation, ok := copied.Incarnation("n2")
	require.True(t, ok)
	require.Equal(t, "i2", incarnation)
	_, ok = copied.Incarnation("n3")
	require.False(t, ok)
}

func TestSnapshotIsOfItsOwnIndex(t *testing.T) {
	m := lively(t)
	want := snapshotOf(t, m)
	taken, err := m.Snapshot()
	require.NoError(t, err)
	m.Apply(entry(7, 4, create(9, "z"), update(10, "x", "later"), remove(11, "y")))
	m.Apply(entry(8, 4, Command{Op: OpOpenSession, Session: SessionID{9}, Node: "n1"}, Command{Op: OpCompact, Revision: 1 << 60}))
	var s sink
	require.NoError(t, taken.Persist(&s))
	require.Equal(t, want, s.Bytes(), "what came after a snapshot was taken does not show in it")
}

func TestTornSnapshotIsRefused(t *testing.T) {
	m := lively(t)
	before := snapshotOf(t, m)
	snapshot := snapshotOf(t, wide(t))
	refuse := func(what string, data []byte) {
		err := m.Restore(readCloser(data))
		assert.ErrorIs(t, err, ErrSnapshot, what)
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		n := random.IntN(len(snapshot))
		refuse(fmt.Sprintf("cut at %d", n), snapshot[:n])
		damaged := bytes.Clone(snapshot)
		damaged[n] ^= 1 << random.IntN(8)
		refuse(fmt.Sprintf("a bit flipped in byte %d", n), damaged)
	}
	small := snapshotOf(t, lively(t))
	for n := range small {
		refuse(fmt.Sprintf("small one cut at %d", n), small[:n])
	}
	refuse("goes on", append(bytes.Clone(snapshot), 0))
	require.Equal(t, before, snapshotOf(t, m), "a refused snapshot changes nothing")
}

// wide returns a machine whose snapshot takes several blocks.
func wide(t testing.TB) *Machine {
	m := opened(t)
	for i := range uint64(40) {
		name := fmt.Sprint(i)
		m.Apply(entry(2+i, 1, create(2*i+1, name), update(2*i+2, name, string(make([]byte, 5000)))))
	}
	return m
}

func TestBlocksDoNotChangePlaces(t *testing.T) {
	snapshot := snapshotOf(t, wide(t))
	first := len(snapshotMagic)
	second := first + blockHead + int(uint32(snapshot[first])|uint32(snapshot[first+1])<<8|uint32(snapshot[first+2])<<16)
	third := second + blockHead + int(uint32(snapshot[second])|uint32(snapshot[second+1])<<8|uint32(snapshot[second+2])<<16)
	swapped := bytes.Join([][]byte{snapshot[:first], snapshot[second:third], snapshot[first:second], snapshot[third:]}, nil)
	require.ErrorContains(t, New(Options{}).Restore(readCloser(swapped)), "checksum does not match")
}

func TestUnreadableSnapshotIsNotCalledDamaged(t *testing.T) {
	broken := errors.New("disk on fire")
	snapshot := snapshotOf(t, lively(t))
	from := io.MultiReader(bytes.NewReader(snapshot[:20]), failing{broken})
	err := New(Options{}).Restore(io.NopCloser(from))
	require.ErrorIs(t, err, broken)
	require.NotErrorIs(t, err, ErrSnapshot)
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error)  { return 0, f.err }
func (f failing) Write([]byte) (int, error) { return 0, f.err }

// fullDisk fails after some bytes.
type fullDisk struct {
	sink
	room int
}

func (d *fullDisk) Write(data []byte) (int, error) {
	if d.room -= len(data); d.room < 0 {
		return 0, errors.New("no space left")
	}
	return len(data), nil
}

func TestFailedPersistCancels(t *testing.T) {
	m := wide(t)
	for _, room := range []int{0, 20, 100_000} {
		taken, err := m.Snapshot()
		require.NoError(t, err)
		disk := &fullDisk{room: room}
		require.ErrorContains(t, taken.Persist(disk), "no space left")
		require.True(t, disk.cancelled)
		require.False(t, disk.closed)
	}
}

func TestTailIsBounded(t *testing.T) {
	m := wide(t)
	for _, c := range []struct {
		options Options
		events  int
	}{
		{Options{TailEvents: -1}, 0},
		{Options{TailBytes: -1}, 0},
		{Options{TailEvents: 7}, 7},
		{Options{TailBytes: 3000}, 11}, // of 256 each and a byte or two of the name as the version before
		{Options{}, 80},
	} {
		m.options = New(c.options).options
		copied := restored(t, c.options, snapshotOf(t, m))
		require.Equal(t, m.State().Revision()-uint64(c.events), copied.History().Oldest(), "%+v", c.options)
		past, err := copied.History().At(copied.History().Oldest())
		require.NoError(t, err)
		original, err := m.History().At(copied.History().Oldest())
		require.NoError(t, err)
		require.Equal(t, versions(original, "leases", "", ""), versions(past, "leases", "", ""))
	}
}

// TestRestoreWakesEveryone restores a snapshot into a machine that is being watched and waited for.
func TestRestoreWakesEveryone(t *testing.T) {
	ahead := lively(t)
	ahead.options.TailEvents = 2
	m := opened(t)
	history, ctx := m.History(), withDeadline(t)
	_, more, err := history.After(FirstRevision, 10)
	require.NoError(t, err)
	_, future, err := history.After(FirstRevision+4, 10)
	require.NoError(t, err)
	waited := make(chan error)
	go func() { waited <- m.WaitIndex(ctx, 6) }()
	go func() { waited <- m.WaitRevision(ctx, FirstRevision+6) }()

	require.NoError(t, m.Restore(readCloser(snapshotOf(t, ahead))))
	require.NoError(t, <-waited)
	require.NoError(t, <-waited)
	<-more
	_, _, err = history.After(FirstRevision, 10)
	require.ErrorIs(t, err, ErrExpired)
	<-future
	events, _, err := history.After(FirstRevision+4, 10)
	require.NoError(t, err)
	require.Len(t, events, 2)
}

// TestRestoreForgetsPastStates goes back in time, as when a backup is restored: the same revision is another state then.
func TestRestoreForgetsPastStates(t *testing.T) {
	m := opened(t)
	m.Apply(entry(2, 1, create(1, "x")))
	backup := snapshotOf(t, m)
	m.Apply(entry(3, 1, create(2, "y"), create(3, "z")))
	past, err := m.History().At(FirstRevision + 2)
	require.NoError(t, err)
	require.NotNil(t, past.Get(Key{"leases", "a", "y"}))
	slow := m.view.Load() // of a reader who asks when all has changed

	require.NoError(t, m.Restore(readCloser(backup)))
	m.history.past.at(slow, FirstRevision+2)
	m.Apply(entry(3, 2, create(2, "other"), create(3, "z")))
	past, err = m.History().At(FirstRevision + 2)
	require.NoError(t, err)
	require.Nil(t, past.Get(Key{"leases", "a", "y"}))
	require.NotNil(t, past.Get(Key{"leases", "a", "other"}))
}

func FuzzRestore(f *testing.F) {
	f.Add(snapshotOf(f, lively(f)))
	f.Add(snapshotOf(f, New(Options{})))
	f.Fuzz(func(t *testing.T, data []byte) {
		m := New(Options{})
		if err := m.Restore(readCloser(data)); err != nil {
			return
		}
		snapshotOf(t, m)
	})
}

// FuzzRestoreRecords gives the decoder records whose checksums are right.
func FuzzRestoreRecords(f *testing.F) {
	snapshot := snapshotOf(f, lively(f))
	f.Add(snapshot[len(snapshotMagic)+blockHead : len(snapshot)-blockHead])
	f.Fuzz(func(t *testing.T, records []byte) {
		var data bytes.Buffer
		w, err := newBlockWriter(&data)
		require.NoError(t, err)
		w.buffer = append(w.buffer, records...)
		require.NoError(t, w.end())
		m := New(Options{})
		if err := m.Restore(io.NopCloser(&data)); err != nil {
			require.ErrorIs(t, err, ErrSnapshot)
			return
		}
		again := restored(t, Options{}, snapshotOf(t, m))
		require.Equal(t, snapshotOf(t, m), snapshotOf(t, again))
		_, err = m.History().At(m.History().Oldest())
		require.NoError(t, err)
	})
}
