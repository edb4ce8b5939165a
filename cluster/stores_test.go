package cluster

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func openTestStores(t testing.TB, dir string) (*stores, error) {
	return openStores(dir, nil, func(err error) { t.Error(err) }, hclog.NewNullLogger())
}

func mustOpenStores(t testing.TB, dir string) *stores {
	t.Helper()
	s, err := openTestStores(t, dir)
	require.NoError(t, err)
	return s
}

// fillStores writes entries first to last of term 2, a vote and a term.
func fillStores(t testing.TB, s *stores, first, last uint64) {
	t.Helper()
	for index := first; index <= last; index++ {
		require.NoError(t, s.log.StoreLog(&raft.Log{Index: index, Term: 2, Data: fmt.Appendf(nil, "data of entry %d", index)}))
	}
	require.NoError(t, s.stable.SetUint64([]byte("CurrentTerm"), 2))
	require.NoError(t, s.stable.SetUint64([]byte(keyVoteTerm), 2))
	require.NoError(t, s.stable.Set([]byte(keyVoteCandidate), []byte("a")))
}

// snapshot writes one that ends at index of term 2.
func snapshot(t testing.TB, s *stores, index uint64) {
	t.Helper()
	sink, err := s.snapshots.Create(raft.SnapshotVersionMax, index, 2, raft.Configuration{}, 1, nil)
	require.NoError(t, err)
	_, err = sink.Write([]byte("state"))
	require.NoError(t, err)
	require.NoError(t, sink.Close())
}

func TestStoresComeBackAsTheyWere(t *testing.T) {
	dir := t.TempDir()
	s := mustOpenStores(t, dir)
	fillStores(t, s, 1, 50)
	snapshot(t, s, 40)
	require.NoError(t, s.log.DeleteRange(1, 30))
	require.NoError(t, s.Close())

	s = mustOpenStores(t, dir)
	defer s.Close()
	first, err := s.log.FirstIndex()
	require.NoError(t, err)
	assert.EqualValues(t, 31, first)
	var entry raft.Log
	require.NoError(t, s.log.GetLog(50, &entry))
	assert.Equal(t, "data of entry 50", string(entry.Data))
	assert.Empty(t, entry.Extensions)
	require.ErrorIs(t, s.log.GetLog(30, &entry), raft.ErrLogNotFound)
	term, err := s.stable.GetUint64([]byte(keyVoteTerm))
	require.NoError(t, err)
	assert.EqualValues(t, 2, term)
	listed, err := s.snapshots.List()
	require.NoError(t, err)
	require.Len(t, listed, 1)
}

func TestASecondProcessIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), boltFile)
	require.NoError(t, createBolt(path))
	held, err := open(path)
	require.NoError(t, err)
	defer held.Close()
	err = verifyBolt(path, nil)
	require.ErrorContains(t, err, path+" is in use by another process")
	require.NotErrorIs(t, err, errDamaged)
}

func TestWhatACrashLeftUnfinishedIsThrownAway(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, boltFile+unfinishedBolt), []byte("half a page"), 0o600))
	unfinished := filepath.Join(dir, snapshotDir, "2-40-1700000000000.tmp")
	require.NoError(t, os.MkdirAll(unfinished, 0o755))
	s := mustOpenStores(t, dir)
	fillStores(t, s, 1, 3)
	require.NoError(t, s.Close())
	assert.NoFileExists(t, filepath.Join(dir, boltFile+unfinishedBolt))
	assert.NoDirExists(t, unfinished)
}

func TestDamageIsRefusedByName(t *testing.T) {
	for name, test := range map[string]struct {
		damage func(t *testing.T, dir string)
		file   string
	}{
		"log lost": {func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, boltFile)))
		}, boltFile},
		"log emptied": {func(t *testing.T, dir string) {
			require.NoError(t, os.Truncate(filepath.Join(dir, boltFile), 0))
		}, boltFile},
		"log truncated": {func(t *testing.T, dir string) {
			require.NoError(t, os.Truncate(filepath.Join(dir, boltFile), 3*4096))
		}, boltFile},
		"log is something else": {func(t *testing.T, dir string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, boltFile), make([]byte, 1<<16), 0o600))
		}, boltFile},
		"newest snapshot lost": {func(t *testing.T, dir string) {
			require.NoError(t, os.RemoveAll(filepath.Join(dir, snapshotDir)))
		}, boltFile + ": entry 1: log not found"},
		"newest snapshot without description": {func(t *testing.T, dir string) {
			metas, err := filepath.Glob(filepath.Join(dir, snapshotDir, "*", "meta.json"))
			require.NoError(t, err)
			require.Len(t, metas, 1)
			require.NoError(t, os.WriteFile(metas[0], []byte("{"), 0o600))
		}, snapshotDir + "/2-40-"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := mustOpenStores(t, dir)
			fillStores(t, s, 1, 50)
			snapshot(t, s, 40)
			require.NoError(t, s.log.DeleteRange(1, 30))
			require.NoError(t, s.Close())
			test.damage(t, dir)
			_, err := openTestStores(t, dir)
			require.ErrorIs(t, err, errDamaged)
			assert.ErrorContains(t, err, filepath.Join(dir, test.file))
		})
	}
}

// A flipped bit is refused, or was in a part of the file that means nothing. It never changes what raft reads.
func TestAFlippedBitIsRefusedOrWithoutEffect(t *testing.T) {
	dir := t.TempDir()
	s := mustOpenStores(t, dir)
	fillStores(t, s, 1, 300)
	require.NoError(t, s.log.DeleteRange(1, 100))
	snapshot(t, s, 150)
	require.NoError(t, s.Close())
	path := filepath.Join(dir, boltFile)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)

	refused := 0
	rapid.Check(t, func(r *rapid.T) {
		bit := rapid.IntRange(0, 8*len(whole)-1).Draw(r, "bit")
		flipped := append([]byte(nil), whole...)
		flipped[bit/8] ^= 1 << (bit % 8)
		require.NoError(r, os.Remove(path)) // bolt may have panicked and left its lock on the former file
		require.NoError(r, os.WriteFile(path, flipped, 0o600))
		s, err := openTestStores(t, dir)
		if err != nil {
			require.ErrorIs(r, err, errDamaged)
			require.ErrorContains(r, err, path)
			refused++
			return
		}
		defer s.Close()
		candidate, err := s.stable.Get([]byte(keyVoteCandidate))
		require.NoError(r, err)
		require.Equal(r, "a", string(candidate))
		for index := uint64(101); index <= 300; index++ {
			var entry raft.Log
			require.NoError(r, s.log.GetLog(index, &entry))
			require.Equal(r, fmt.Sprintf("data of entry %d", index), string(entry.Data))
		}
	})
	assert.Positive(t, refused)
}

func TestAFlippedBitInAnEntryIsRefused(t *testing.T) {
	dir := t.TempDir()
	s := mustOpenStores(t, dir)
	fillStores(t, s, 1, 5)
	require.NoError(t, s.Close())
	path := filepath.Join(dir, boltFile)
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	flipped := 0
	for i := range len(file) - 15 {
		if string(file[i:i+15]) == "data of entry 3" { // bolt may keep older copies of a page
			file[i+rand.IntN(15)] ^= 1
			flipped++
		}
	}
	require.Positive(t, flipped)
	require.NoError(t, os.WriteFile(path, file, 0o600))
	_, err = openTestStores(t, dir)
	require.ErrorIs(t, err, errDamaged)
	require.ErrorContains(t, err, path+": entry 3: checksum does not match")
}

// Raft itself would go back to an older snapshot, and then find a hole in its log.
func TestADamagedSnapshotEndsTheProcess(t *testing.T) {
	dir := t.TempDir()
	s := mustOpenStores(t, dir)
	fillStores(t, s, 1, 50)
	snapshot(t, s, 40)
	require.NoError(t, s.Close())
	states, err := filepath.Glob(filepath.Join(dir, snapshotDir, "*", "state.bin"))
	require.NoError(t, err)
	require.Len(t, states, 1)
	require.NoError(t, os.WriteFile(states[0], []byte("stAte"), 0o600))

	var fatal error
	s, err = openStores(dir, nil, func(err error) { fatal = err }, hclog.NewNullLogger())
	require.NoError(t, err)
	defer s.Close()
	listed, err := s.snapshots.List()
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _, _ = s.snapshots.Open(listed[0].ID)
		assert.Fail(t, "went on")
	}()
	<-done
	require.ErrorIs(t, fatal, errDamaged)
	require.ErrorContains(t, fatal, "open snapshot "+listed[0].ID+" in "+dir)
}
