package fsm

import (
	"slices"
	"testing"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// replica is a machine that gets the log in its own way, and the oldest revision that it can know.
type replica struct {
	name    string
	machine *Machine
	since   uint64
	pending []*raft.Log
	results [][]Result // of all entries so far; nil for those that a snapshot brought
}

func (r *replica) flush(t *rapid.T) {
	if len(r.pending) == 0 {
		return
	}
	for i, response := range r.machine.ApplyBatch(r.pending) {
		if r.pending[i].Type == raft.LogCommand {
			r.results = append(r.results, response.([]Result))
		} else {
			require.Nil(t, response)
			r.results = append(r.results, nil)
		}
	}
	r.pending = nil
}

// TestMachineMatchesModel feeds one log to machines that get it in batches cut differently, and to machines restored from
// snapshots on the way, and compares all with the model: results, states of the present and of the past, events, and in
// the end the snapshots' bytes.
func TestMachineMatchesModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		options := Options{
			TailEvents: rapid.SampledFrom([]int{-1, 5, 20, 1000}).Draw(t, "tail events"),
			TailBytes:  rapid.SampledFrom([]int{-1, 2000, 100_000}).Draw(t, "tail bytes"),
		}
		m := newModel()
		replicas := []*replica{
			{name: "one by one", machine: New(options), since: FirstRevision},
			{name: "in batches", machine: New(options), since: FirstRevision},
		}
		var want [][]Result
		index := uint64(0)
		for range rapid.IntRange(1, 60).Draw(t, "entries") {
			index += rapid.SampledFrom([]uint64{1, 1, 1, 2}).Draw(t, "step") // no-ops never reach the machine
			log := &raft.Log{Index: index, Term: index / 7, Type: raft.LogConfiguration, Data: []byte("not ours")}
			var results []Result
			if rapid.IntRange(0, 9).Draw(t, "configuration") > 0 {
				commands := make([]Command, rapid.IntRange(0, 8).Draw(t, "commands"))
				results = []Result{}
				for i := range commands {
					commands[i] = drawCommand(t, m)
					results = append(results, m.apply(commands[i]))
				}
				log = entry(index, index/7, commands...)
			}
			want = append(want, results)
			for i, r := range replicas {
				r.pending = append(r.pending, log)
				if i == 0 || rapid.IntRange(0, 3).Draw(t, "cut") == 0 {
					r.flush(t)
					require.Equal(t, want, r.results, "%s", r.name)
					r.check(t, m)
				}
			}
			if rapid.IntRange(0, 9).Draw(t, "restart") == 0 {
				from := rapid.SampledFrom(replicas).Draw(t, "from")
				from.flush(t)
				replicas = append(replicas, &replica{
					name:    "restored from " + from.name,
					machine: restored(t, options, snapshotOf(t, from.machine)),
					since:   max(from.since, m.oldest, m.reach(options.TailBytes, options.TailEvents)),
					results: slices.Clone(want),
				})
			}
		}
		for _, r := range replicas {
			r.flush(t)
			require.Equal(t, want, r.results, "%s", r.name)
			r.check(t, m)
			require.Equal(t, snapshotOf(t, replicas[0].machine), snapshotOf(t, r.machine), "%s: snapshot", r.name)
			_, hash := replicas[0].machine.Hash()
			hashIndex, same := r.machine.Hash()
			require.Equal(t, hash, same, "%s: hash", r.name)
			require.Equal(t, index, hashIndex)
			applied, term := r.machine.Applied()
			require.Equal(t, []uint64{index, index / 7}, []uint64{applied, term})
		}
	})
}

func (r *replica) check(t *rapid.T, m *model) {
	state, history := r.machine.State(), r.machine.History()
	oldest := max(r.since, m.oldest)
	require.Equal(t, m.revision, state.Revision(), r.name)
	require.Equal(t, oldest, history.Oldest(), r.name)
	compareState(t, m, state)
	for node, incarnation := range m.incarnations {
		got, ok := r.machine.Incarnation(node)
		require.True(t, ok)
		require.Equal(t, incarnation, got)
	}

	revision := rapid.Uint64Range(oldest-min(oldest, 3), m.revision+3).Draw(t, "revision")
	past, err := history.At(revision)
	switch {
	case revision < oldest:
		require.ErrorIs(t, err, ErrExpired)
	case revision > m.revision:
		require.ErrorIs(t, err, ErrFuture)
	default:
		require.NoError(t, err)
		require.Equal(t, revision, past.Revision())
		compareState(t, m, past)
	}

	limit := rapid.IntRange(0, 5).Draw(t, "limit")
	events, more, err := history.After(revision, limit)
	if revision < oldest {
		require.ErrorIs(t, err, ErrExpired)
		return
	}
	require.NoError(t, err)
	require.LessOrEqual(t, len(events), limit)
	for i, event := range events {
		require.Equal(t, m.events[revision-FirstRevision+uint64(i)], changeOf(event))
		require.Equal(t, revision+uint64(i)+1, event.Revision)
	}
	select {
	case <-more:
		require.Less(t, revision+uint64(len(events)), m.revision)
	default:
		require.GreaterOrEqual(t, revision+uint64(len(events)), m.revision)
	}
}

func compareState(t *rapid.T, m *model, state *State) {
	resource := rapid.SampledFrom(someResources).Draw(t, "listed resource")
	namespace := rapid.SampledFrom(someNamespaces).Draw(t, "listed namespace")
	after := ""
	if rapid.Bool().Draw(t, "continued") {
		after = drawKey(t).String()
		if namespace != "" && after < namespace+"/" {
			after = ""
		}
	}
	want := m.listing(state.Revision(), resource, namespace, after)
	require.Equal(t, want, versions(state, resource, namespace, after))
	require.Equal(t, len(want), state.Count(resource, namespace, after))
	require.Equal(t, len(m.states[state.Revision()]), state.Len())
	key := drawKey(t)
	require.Equal(t, m.states[state.Revision()][key], versionOf(state.Get(key)))
}

func TestUndecodableEntryPanics(t *testing.T) {
	good := entry(1, 1, Command{Op: OpReady}).Data
	for name, data := range map[string][]byte{
		"empty":             {},
		"unknown version":   {EntryHeader + 1, byte(OpReady)},
		"unknown operation": append(slices.Clone(good), 200),
		"cut short":         entry(1, 1, Command{Op: OpOpenSession, Node: "n"}).Data[:10],
	} {
		t.Run(name, func(t *testing.T) {
			m := New(Options{})
			defer func() { require.Contains(t, recover(), "this node must stop") }()
			m.Apply(&raft.Log{Index: 1, Type: raft.LogCommand, Data: data})
		})
	}
}

func TestEntryOutOfOrderPanics(t *testing.T) {
	m := New(Options{})
	m.Apply(entry(5, 1, Command{Op: OpReady}))
	defer func() { require.Contains(t, recover(), "entry 5 comes after entry 5 was applied") }()
	m.Apply(entry(5, 1, Command{Op: OpReady}))
}
