package nemesis

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func planned(t *testing.T, seed uint64, o Options, kinds ...string) Schedule {
	t.Helper()
	s, err := Plan(seed, kinds, o)
	require.NoError(t, err)
	return s
}

func TestKindsAreWholeAndMany(t *testing.T) {
	families := []string{Killing, Pausing, Partitioning, Packets, Disks, Clocks, Members, Load}
	known := make(map[string]bool)
	for _, k := range Kinds() {
		assert.False(t, known[k.Name], k.Name)
		known[k.Name] = true
		assert.Contains(t, families, k.Family, k.Name)
		assert.NotEmpty(t, k.Does, k.Name)
		assert.NotEmpty(t, k.Proof, k.Name)
		assert.NotNil(t, k.act.aim, k.Name)
		assert.NotNil(t, k.act.strike, k.Name)
		assert.NotNil(t, k.act.felt, k.Name)
	}
	assert.GreaterOrEqual(t, len(known), 18)
}

func TestSelectTakesKindsFamiliesAndAll(t *testing.T) {
	all, err := Select("all")
	require.NoError(t, err)
	assert.Len(t, all, len(Kinds()))
	some, err := Select("pause", "kill-one", "pause-one")
	require.NoError(t, err)
	var names []string
	for _, k := range some {
		names = append(names, k.Name)
	}
	assert.Equal(t, []string{"kill-one", "pause-one", "pause-leader", "pause-majority", "pause-all"}, names)
	_, err = Select("pause", "paws")
	assert.ErrorContains(t, err, `"paws"`)
}

func TestPlanIsTheSameForTheSameSeed(t *testing.T) {
	o := Options{Nodes: 5, Duration: 5 * time.Minute, Bursts: true, Pairs: [][2]string{{"pause-leader", "partition-one-way"}}}
	first := planned(t, 7, o, "all")
	assert.Equal(t, first, planned(t, 7, o, "all"))
	assert.NotEqual(t, first.Entries, planned(t, 8, o, "all").Entries)
	for _, k := range Kinds() {
		assert.True(t, slices.ContainsFunc(first.Entries, func(e Entry) bool { return e.Kind == k.Name }), k.Name)
	}
}

func TestPlanKeepsToItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := Options{Nodes: rapid.SampledFrom([]int{3, 5}).Draw(t, "nodes"), Bursts: true,
			Duration: time.Duration(rapid.IntRange(1, 600).Draw(t, "seconds")) * time.Second,
			Interval: time.Duration(rapid.IntRange(500, 10_000).Draw(t, "interval")) * time.Millisecond,
			Pairs:    [][2]string{{"kill-leader", "delay"}}}
		s, err := Plan(rapid.Uint64().Draw(t, "seed"), []string{"all"}, o)
		require.NoError(t, err)
		require.NoError(t, s.Validate())
		harmed := make(map[int]bool)
		kinds := make(map[string]Kind)
		for _, k := range Kinds() {
			kinds[k.Name] = k
		}
		for i, e := range s.Entries {
			assert.Equal(t, i, e.Index)
			assert.GreaterOrEqual(t, s.Duration, e.At+e.For, e.Name)
			k := kinds[e.Kind]
			assert.GreaterOrEqual(t, e.For, Span(k.Shortest), e.Name)
			if k.Longest > 0 {
				assert.LessOrEqual(t, e.For, Span(k.Longest), e.Name)
			}
			if k.Harms {
				for _, n := range e.Order[:minority(o.Nodes)] {
					harmed[n] = true
				}
			}
		}
		assert.LessOrEqual(t, len(harmed), minority(o.Nodes), "only one minority is ever harmed")
	})
}

func TestPlanHasTheOverlapThatIsWishedFor(t *testing.T) {
	for _, overlap := range []float64{1, 2, 4} {
		s := planned(t, 3, Options{Nodes: 3, Duration: 2 * time.Hour, Overlap: overlap}, "kill", "pause", "partition", "packet", "clock")
		var inForce time.Duration
		for _, e := range s.Entries {
			inForce += time.Duration(e.For)
		}
		assert.InDelta(t, overlap, float64(inForce)/float64(s.Duration), overlap/3)
	}
}

func TestPlanLeavesTimeToRecoverFromWhatStopsAllWork(t *testing.T) {
	s := planned(t, 3, Options{Nodes: 3, Duration: time.Hour}, "kill-all", "pause-all", "kill-majority", "kill-one")
	again, alone := Span(0), 0
	for _, e := range s.Entries {
		if e.Kind == "kill-one" {
			alone++
			continue
		}
		require.GreaterOrEqual(t, e.At, again, e.Name)
		again = e.At + e.For + Span(5*time.Second)
	}
	assert.Greater(t, alone, 100, "others need not wait")
	assert.Greater(t, len(s.Entries)-alone, 100)
}

func TestKindsThatKeepApartTakeTurns(t *testing.T) {
	s := planned(t, 2, Options{Nodes: 3, Duration: time.Hour, Overlap: 3}, "corrupt", "truncate", "wipe")
	turns := make(map[string]int)
	over := Span(0)
	for _, e := range s.Entries {
		turns[e.Kind]++
		require.GreaterOrEqual(t, e.At, over, e.Name)
		over = e.At + e.For + Span(giveBackTime)
	}
	for _, kind := range []string{"corrupt", "truncate", "wipe"} {
		assert.Greater(t, turns[kind], len(s.Entries)/4, kind)
	}
}

func TestPairsStartTogether(t *testing.T) {
	s := planned(t, 1, Options{Nodes: 3, Duration: time.Minute, Pairs: [][2]string{{"pause-leader", "partition-one-way"}}})
	require.GreaterOrEqual(t, len(s.Entries), 4)
	for i := 0; i < len(s.Entries); i += 2 {
		a, b := s.Entries[i], s.Entries[i+1]
		assert.Equal(t, a.At, b.At)
		assert.Equal(t, a.Pair, b.Pair)
		assert.NotEqual(t, a.Kind, b.Kind)
		assert.NotEmpty(t, a.Pair)
	}
}

func TestPlanSaysWhatItLeavesOutAndWhy(t *testing.T) {
	place := newFake(3)
	place.lacks[CanLosePower] = true
	s := planned(t, 1, Options{Nodes: 3, Duration: time.Minute, Target: place}, "power-loss-one", "partition-ring", "overload", "kill-one")
	reasons := make(map[string]string)
	for _, o := range s.Omitted {
		reasons[o.Kind] = o.Reason
	}
	assert.Len(t, reasons, 3)
	assert.Contains(t, reasons["power-loss-one"], "not possible here")
	assert.Contains(t, reasons["partition-ring"], "5 nodes")
	assert.Contains(t, reasons["overload"], "no workload")
	for _, e := range s.Entries {
		assert.Equal(t, "kill-one", e.Kind)
	}
	s = planned(t, 1, Options{Nodes: 3, Duration: time.Minute, Target: silentFake{place}}, "wipe")
	assert.Contains(t, s.String(), "without wipe: files are not kept here")
}

func TestAScheduleIsReadAsItWasWritten(t *testing.T) {
	s := planned(t, 9, Options{Nodes: 5, Duration: 3 * time.Minute, Bursts: true}, "all")
	var text bytes.Buffer
	require.NoError(t, s.Write(&text))
	read, err := ReadSchedule(&text)
	require.NoError(t, err)
	assert.Equal(t, s, read)
	for _, e := range s.Entries {
		assert.Contains(t, s.String(), e.Name)
	}
}

func TestAReducedScheduleMeansTheSameForTheRest(t *testing.T) {
	s := planned(t, 9, Options{Nodes: 3, Duration: 3 * time.Minute}, "kill", "partition", "packet")
	reduced := s.Without(0, 3, 4)
	assert.Len(t, reduced.Entries, len(s.Entries)-3)
	for _, e := range reduced.Entries {
		assert.Equal(t, s.Entries[e.Index], e)
	}
	again := reduced.Without(1).Keep(1, 2, 5)
	require.Len(t, again.Entries, 2)
	assert.Equal(t, []Entry{s.Entries[2], s.Entries[5]}, again.Entries)
	assert.Equal(t, 0, s.Entries[0].Index, "the whole is still whole")
	require.NoError(t, again.Validate())
}

func TestAScheduleThatCannotBeRunIsRefused(t *testing.T) {
	good := planned(t, 9, Options{Nodes: 3, Duration: time.Minute}, "kill-one")
	require.GreaterOrEqual(t, len(good.Entries), 2)
	for name, spoil := range map[string]func(*Schedule){
		"no fault is called": func(s *Schedule) { s.Entries[1].Kind = "kill-two" },
		"that of another":    func(s *Schedule) { s.Entries[1].Name = s.Entries[0].Name },
		"lasts 0s":           func(s *Schedule) { s.Entries[1].For = 0 },
		"not one of 3 nodes": func(s *Schedule) { s.Entries[1].Order = []int{0, 1, 1} },
	} {
		bad := good.Keep(0, 1)
		spoil(&bad)
		assert.ErrorContains(t, bad.Validate(), name)
	}
	_, err := ReadSchedule(bytes.NewBufferString(`{"seed": 1, "sead": 2}`))
	assert.ErrorContains(t, err, "sead")
}
