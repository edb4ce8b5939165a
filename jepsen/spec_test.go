package jepsen

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func fine() Spec {
	return Spec{Workloads: []string{"mixed"}, Nemesis: []string{"kill"}, Duration: time.Minute, Interval: time.Second, Nodes: 3, Rate: 100, Clients: 5, Mode: "auto", Binary: "leasehold"}
}

func TestASpecThatCannotBeRunSaysAllThatIsWrong(t *testing.T) {
	s := fine()
	require.NoError(t, s.Validate())
	s.Workloads, s.Mode, s.Rate, s.Binary = []string{"dance"}, "moon", 0, ""
	err := s.Validate()
	for _, flag := range []string{"--workload", "--mode", "--rate", "--bin"} {
		assert.ErrorContains(t, err, flag)
	}
}

func TestNoHarmIsDoneToAClusterThatSomebodyElseRuns(t *testing.T) {
	s := fine()
	s.Binary, s.Remote = "", &Remote{URLs: []string{"https://127.0.0.1:1"}}
	require.ErrorContains(t, s.Validate(), "--nemesis")
	s.Nemesis = nil
	require.NoError(t, s.Validate())
}

func TestARunsFolderTellsHowToDoItAgain(t *testing.T) {
	s := fine()
	s.Only, s.Remote = []int{1, 4}, &Remote{URLs: []string{"https://127.0.0.1:1"}, Token: "secret"}
	dir := t.TempDir()
	require.NoError(t, s.write(dir))
	read, err := ReadSpec(dir)
	require.NoError(t, err)
	s.Remote.Token = "" // a secret is not kept
	assert.Equal(t, s, read)
}

func TestFoldersOfOneSecondHaveDifferentNames(t *testing.T) {
	store, now := t.TempDir(), time.Unix(1_800_000_000, 0)
	a, err := makeFolder(store, "mixed/../kill+pause-1", now)
	require.NoError(t, err)
	b, err := makeFolder(store, "mixed/../kill+pause-1", now)
	require.NoError(t, err)
	assert.NotEqual(t, a, b)
	assert.Contains(t, a, "20270115T080000Z-mixed..kill-pause-1")
}

func TestABugIsTriedOnTheServerThatHasIt(t *testing.T) {
	names := make(map[string]bool)
	for _, b := range Bugs() {
		assert.False(t, names[b.Name], "%s is there twice", b.Name)
		names[b.Name] = true
		assert.NotEmpty(t, b.Guarantees, b.Name)
		s := b.spec(fine())
		assert.NoError(t, s.Validate(), b.Name)
		assert.Equal(t, b.Name, s.bug())
	}
	assert.Len(t, names, 16)
	plain := fine()
	assert.Empty(t, plain.bug())
}
