package nemesis

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/leasehold/leasehold/jepsen/history"
)

// tried is what a run on a fake left behind.
type tried struct {
	fake    *fake
	nemesis *Nemesis
	history *history.History
	notices []string
	err     error
}

// try runs a schedule on a fake while clients call, in a time of its own. stop, if not 0, is when the run is broken off.
func try(t *testing.T, nodes int, s Schedule, stop time.Duration, prepare func(*fake)) tried {
	t.Helper()
	var file bytes.Buffer
	var x tried
	synctest.Test(t, func(*testing.T) {
		x.fake = newFake(nodes)
		prepare(x.fake)
		meter := NewMeter()
		recorder := history.NewRecorder(&file, meter.Follow)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		if stop > 0 {
			time.AfterFunc(stop, cancel)
		}
		working, done := context.WithCancel(context.Background())
		idle := make(chan struct{})
		clients := &fakeClients{fake: x.fake, recorder: recorder}
		go func() { defer close(idle); clients.run(working) }()
		x.nemesis = New(x.fake, recorder, Hooks{Meter: meter, Burst: clients.burst, Notice: func(s string) { x.notices = append(x.notices, s) }})
		x.err = x.nemesis.Run(ctx, s)
		done()
		<-idle
		require.NoError(t, recorder.Flush())
	})
	h, err := history.Read(&file)
	require.NoError(t, err)
	x.history = h
	return x
}

// fakeClients create an object on each node in turn, and note how long it takes: as long as a sample.
type fakeClients struct {
	fake     *fake
	recorder *history.Recorder
	factor   int // guarded by the fake's lock
	calls    int
}

func (c *fakeClients) run(ctx context.Context) {
	for ctx.Err() == nil {
		c.fake.mu.Lock()
		n := max(1, c.factor)
		c.fake.mu.Unlock()
		for range n {
			c.call(ctx)
		}
		sleep(ctx, 100*time.Millisecond)
	}
}

func (c *fakeClients) call(ctx context.Context) {
	c.calls++
	node := c.fake.names[c.calls%len(c.fake.names)]
	process := fmt.Sprint("c", c.calls)
	c.recorder.Record(history.Event{Process: process, Type: history.Invoke, F: history.Create, Node: node, Request: &history.Request{}})
	c.fake.mu.Lock()
	c.fake.step()
	n := c.fake.nodes[node]
	date, delay := time.Now().Add(n.clock).Unix(), c.fake.nodes[c.fake.leader].disk.SyncDelay
	works := n.runs() && c.fake.hears(node, Client) && c.fake.hears(Client, node) && c.fake.leads(c.fake.leader)
	c.fake.mu.Unlock()
	if !works {
		sleep(ctx, 20*time.Millisecond)
		c.recorder.Record(history.Event{Process: process, Type: history.Info, Node: node})
		return
	}
	sleep(ctx, 2*time.Millisecond+delay)
	c.recorder.Record(history.Event{Process: process, Type: history.OK, Node: node,
		Answer: &history.Answer{Code: 201, Version: &history.Version{Created: date}}})
}

func (c *fakeClients) burst(ctx context.Context, factor int) error {
	c.set(factor)
	defer c.set(1)
	<-ctx.Done()
	return nil
}

func (c *fakeClients) set(factor int) {
	c.fake.mu.Lock()
	defer c.fake.mu.Unlock()
	if !c.fake.numb {
		c.factor = factor
	}
}

// sound says that nobody broke a rule, that every fault was stopped and that the cluster is as it was.
func (x tried) sound(t assert.TestingT) {
	assert.Empty(t, x.fake.violations)
	for _, w := range x.history.Windows {
		assert.NotEqual(t, int64(history.Never), w.Stop, "%s was not stopped", w.Name)
	}
	assert.Empty(t, x.fake.ailing())
}

// single is a schedule of one fault.
func single(t *testing.T, nodes int, kind string, change func(*Entry)) Schedule {
	t.Helper()
	s := planned(t, 11, Options{Nodes: nodes, Duration: 2 * time.Minute, Bursts: true}, kind).Keep(0)
	require.Len(t, s.Entries, 1)
	s.Entries[0].At = Span(3 * time.Second)
	if change != nil {
		change(&s.Entries[0])
	}
	return s
}

func TestEveryKindIsDoneFeltAndHealed(t *testing.T) {
	for _, k := range Kinds() {
		t.Run(k.Name, func(t *testing.T) {
			x := try(t, 5, single(t, 5, k.Name, func(e *Entry) { e.Leader = true }), 0, func(*fake) {})
			require.NoError(t, x.err)
			x.sound(t)
			require.Len(t, x.history.Windows, 1)
			w := x.history.Windows[0]
			assert.Equal(t, k.Name, w.Kind)
			assert.Equal(t, k.Family, w.Family)
			if k.Name == "membership" {
				assert.Contains(t, w.Error, "not possible here")
				return
			}
			assert.Empty(t, w.Error)
			if k.Name != "transfer" { // the fake has another leader for no asking
				assert.NotEmpty(t, w.Effect)
			}
			if k.Name != "overload" {
				assert.NotEmpty(t, w.Nodes)
			}
			t.Log(w.Name, w.Nodes, w.Effect, w.Detail)
		})
	}
}

func TestWhatHasNoEffectIsNotFelt(t *testing.T) {
	for _, kind := range []string{"delay", "slow-disk", "clock-jump", "overload", "partition-flapping"} {
		t.Run(kind, func(t *testing.T) {
			x := try(t, 3, single(t, 3, kind, nil), 0, func(f *fake) { f.numb = true })
			require.NoError(t, x.err)
			require.Len(t, x.history.Windows, 1)
			assert.Empty(t, x.history.Windows[0].Effect)
		})
	}
}

func TestWhatWasSoBeforeIsNoEffect(t *testing.T) {
	cut := func(e *Entry) { e.Order = []int{2, 1, 0} }
	x := try(t, 3, single(t, 3, "partition-one", cut), 0, func(f *fake) {
		for l := range between([]string{"node-3"}, []string{"node-1", "node-2"}, Condition{}) {
			f.links[l] = Condition{Drop: true}
		}
	})
	require.NoError(t, x.err)
	require.Equal(t, []string{"node-3"}, x.history.Windows[0].Nodes)
	assert.Empty(t, x.history.Windows[0].Effect)
}

func TestARunThatIsBrokenOffStopsEveryFault(t *testing.T) {
	s := planned(t, 5, Options{Nodes: 5, Duration: 3 * time.Minute, Overlap: 6, Bursts: true}, "all")
	for stop := 500 * time.Millisecond; stop < 90*time.Second; stop += 7300 * time.Millisecond {
		x := try(t, 5, s, stop, func(*fake) {})
		require.NoError(t, x.err)
		x.sound(t)
		for _, w := range x.history.Windows {
			if w.Kind != "membership" {
				assert.NotContains(t, w.Error, "context canceled", "%s had to be stopped all the same", w.Name)
			}
		}
	}
}

func TestFaultsOverlap(t *testing.T) {
	var kinds []string
	for _, k := range Kinds() {
		if k.Name != "membership" { // it is tried once
			kinds = append(kinds, k.Name)
		}
	}
	s := planned(t, 5, Options{Nodes: 5, Duration: 10 * time.Minute, Overlap: 4, Bursts: true}, kinds...)
	x := try(t, 5, s, 0, func(*fake) {})
	require.NoError(t, x.err)
	x.sound(t)
	c := Cover(x.history)
	assert.Equal(t, len(s.Entries), c.Faults.Struck)
	assert.Len(t, c.Kinds, len(kinds))
	assert.GreaterOrEqual(t, c.AtOnce, 4)
	assert.Greater(t, len(c.Overlaps), 50)
	assert.Greater(t, c.Elections, 10)
	assert.Greater(t, c.Faults.Felt, c.Faults.Struck*2/3)
	assert.Zero(t, c.Faults.Open)
	t.Log(c)
}

// Whatever is planned and whatever fails, no rule is broken, every fault stops, and all is well in the end.
func TestAnyPlanKeepsTheRules(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		nodes := rapid.SampledFrom([]int{3, 5}).Draw(r, "nodes")
		kinds := []string{}
		for _, k := range Kinds() {
			if rapid.IntRange(0, 2).Draw(r, k.Name) == 0 {
				kinds = append(kinds, k.Name)
			}
		}
		o := Options{Nodes: nodes, Bursts: true, Duration: time.Duration(rapid.IntRange(10, 40).Draw(r, "seconds")) * time.Second,
			Overlap: float64(rapid.IntRange(1, 8).Draw(r, "overlap")), Pairs: [][2]string{{"corrupt", "power-loss-all"}, {"kill-all", "pause-all"}}}
		seed := rapid.Uint64().Draw(r, "seed")
		failing := rapid.Bool().Draw(r, "failing")
		s, err := Plan(seed, kinds, o)
		require.NoError(r, err)
		x := try(t, nodes, s, 0, func(f *fake) {
			f.refuse = func(d Damage) bool { return (seed^uint64(len(d)))%3 > 0 }
			if failing {
				f.failures = rand.New(rand.NewPCG(seed, 0))
			}
		})
		assert.Empty(r, x.fake.violations)
		for _, w := range x.history.Windows {
			assert.NotEqual(r, int64(history.Never), w.Stop, w.Name)
		}
		assert.LessOrEqual(r, len(x.nemesis.LeftOut()), minority(nodes))
		if !failing {
			require.NoError(r, x.err)
			assert.Empty(r, x.fake.ailing())
		} else if x.err == nil && len(x.nemesis.LeftOut()) == 0 {
			assert.Empty(r, x.fake.ailing(), "what was not healed is an error")
		}
	})
}

func TestADamagedNodeThatTakesItsFilesKeepsThem(t *testing.T) {
	x := try(t, 3, single(t, 3, "truncate", nil), 0, func(f *fake) { f.refuse = func(Damage) bool { return false } })
	require.NoError(t, x.err)
	x.sound(t)
	w := x.history.Windows[0]
	assert.Equal(t, "it took the damaged files", w.Detail["outcome"])
	assert.Empty(t, w.Effect, "nothing shows that it minded")
	assert.Equal(t, Truncate, x.fake.nodes[w.Nodes[0]].damage)
}

func TestADamagedNodeThatRefusesItsFilesGetsThemBack(t *testing.T) {
	x := try(t, 3, single(t, 3, "corrupt", nil), 0, func(*fake) {})
	require.NoError(t, x.err)
	x.sound(t)
	w := x.history.Windows[0]
	assert.Equal(t, "it refused the damaged files", w.Detail["outcome"])
	assert.Contains(t, w.Effect, "did not answer")
	assert.Empty(t, x.fake.nodes[w.Nodes[0]].damage)
}

func TestWhereThereIsNoSnapshotToTearTheLogIsCorrupted(t *testing.T) {
	x := try(t, 3, single(t, 3, "corrupt", func(e *Entry) { e.Damage = TearLastBit }), 0, func(*fake) {})
	require.NoError(t, x.err)
	x.sound(t)
	assert.NotEmpty(t, x.history.Windows[0].Effect)
	assert.Empty(t, x.notices, "that it does not start is no news")
	assert.Empty(t, x.nemesis.Revived())
}

func TestAnEmptyNodeThatIsLetInIsAnError(t *testing.T) {
	x := try(t, 3, single(t, 3, "wipe", nil), 0, func(f *fake) { f.letIn = true })
	require.ErrorIs(t, x.err, ErrLetIn)
	w := x.history.Windows[0]
	assert.Equal(t, "it was let in", w.Detail["outcome"])
	assert.Empty(t, w.Effect)
	assert.Equal(t, Wipe, x.fake.nodes[w.Nodes[0]].damage, "its old files would make it forget what it did since")
}

func TestANodeWhoseFilesCannotBeGivenBackIsLeftOut(t *testing.T) {
	x := try(t, 3, single(t, 3, "wipe", nil), 0, func(f *fake) { f.loses = true })
	require.NoError(t, x.err)
	node := x.history.Windows[0].Nodes[0]
	assert.Contains(t, x.nemesis.LeftOut()[node], "wipe-1")
	assert.Equal(t, node, x.history.Windows[0].Detail["leftOut"])
	assert.False(t, x.fake.nodes[node].up)
}

func TestANodeThatEndedByItselfIsStartedAgain(t *testing.T) {
	s := single(t, 3, "pause-one", func(e *Entry) { e.Order, e.For, e.Leader = []int{2, 1, 0}, Span(6*time.Second), false })
	again := false
	x := try(t, 3, s, 0, func(f *fake) {
		time.AfterFunc(4*time.Second, func() { f.mu.Lock(); f.nodes["node-1"].crashed = true; f.mu.Unlock() })
		time.AfterFunc(7*time.Second, func() { again = f.Alive("node-1") })
	})
	assert.True(t, again, "not only when all is healed")
	require.NoError(t, x.err)
	x.sound(t)
	assert.Equal(t, map[string]int{"node-1": 1}, x.nemesis.Revived())
	assert.Equal(t, []string{"node-1 had ended by itself and was started again"}, x.notices)
}

func TestWhatTurnsOutToBeImpossibleIsTriedOnce(t *testing.T) {
	s := planned(t, 5, Options{Nodes: 3, Duration: 2 * time.Minute}, "membership")
	require.Greater(t, len(s.Entries), 2)
	x := try(t, 3, s, 0, func(*fake) {})
	require.NoError(t, x.err)
	assert.Len(t, x.history.Windows, 1)
	assert.Equal(t, Count{Struck: 1, Failed: 1}, Cover(x.history).Kinds["membership"])
	assert.Equal(t, []string{"membership"}, Cover(x.history).Unfelt())
}

func TestHealSaysWhatItCannotHeal(t *testing.T) {
	x := try(t, 3, single(t, 3, "kill-one", func(e *Entry) { e.Order = []int{1, 0, 2} }), 0, func(f *fake) { f.stuck = "node-2" })
	require.ErrorContains(t, x.err, "node-2 does not answer")
}

func TestPairsStrikeTogether(t *testing.T) {
	s := planned(t, 2, Options{Nodes: 3, Duration: 30 * time.Second, Pairs: [][2]string{{"pause-leader", "partition-one-way"}}})
	x := try(t, 3, s, 0, func(*fake) {})
	require.NoError(t, x.err)
	x.sound(t)
	assert.NotZero(t, Cover(x.history).Overlaps["partition-one-way+pause-leader"])
}

func TestAReducedRunStrikesTheSameNodes(t *testing.T) {
	s := planned(t, 5, Options{Nodes: 5, Duration: time.Minute}, "kill-minority", "partition-halves", "kill-majority")
	nodes := func(s Schedule) map[string][]string {
		struck := make(map[string][]string)
		for _, w := range try(t, 5, s, 0, func(*fake) {}).history.Windows {
			struck[w.Name] = w.Nodes
		}
		return struck
	}
	all, some := nodes(s), nodes(s.Without(0, 2))
	require.Len(t, some, len(all)-2)
	for name, struck := range some {
		assert.Equal(t, all[name], struck, name)
	}
}
