package report

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/jepsen/history"
)

func TestBandsAreWhereTheFaultsWere(t *testing.T) {
	h := &history.History{End: 100 * second, Windows: []history.Window{
		{Kind: "kill-leader", Start: 10 * second, Stop: 20 * second, Fault: history.Fault{Name: "kill-leader-1", Family: "kill", Effect: "felt"}},
		{Kind: "pause", Start: 15 * second, Stop: 30 * second, Fault: history.Fault{Name: "pause-1", Family: "pause"}},
		{Kind: "pause", Start: 16 * second, Stop: 18 * second, Fault: history.Fault{Name: "pause-2", Family: "pause", Effect: "felt"}},
		{Kind: "odd", Start: 90 * second, Stop: history.Never, Fault: history.Fault{Name: "odd-1", Family: "surprise", Effect: "felt"}},
	}}
	bands := make(map[string][]element)
	tints := make(map[string]element)
	title := ""
	for _, e := range elements(t, string(latency(h))) {
		switch {
		case e.name == "title":
			title, _, _ = strings.Cut(e.text, ",")
		case strings.HasPrefix(e.attrs["class"], "band") && title != "":
			bands[title] = append(bands[title], e)
			title = ""
		case strings.HasPrefix(e.attrs["class"], "tint"):
			assert.NotContains(t, tints, e.attrs["class"])
			tints[e.attrs["class"]] = e
		}
	}
	x := func(seconds float64) string {
		return coordinate(chartLeft + (chartRight-chartLeft)*seconds/100)
	}
	for name, want := range map[string][3]string{
		"kill-leader-1": {"band f-kill", x(10), coordinate(86.8)},
		"pause-1":       {"band unfelt f-pause", x(15), coordinate(130.2)},
		"pause-2":       {"band f-pause", x(16), coordinate(17.4)},
		"odd-1":         {"band f-other", x(90), coordinate(86.8)},
	} {
		if assert.Len(t, bands[name], 1, name) {
			a := bands[name][0].attrs
			assert.Equal(t, want, [3]string{a["class"], a["x"], a["width"]}, name)
		}
	}
	assert.NotEqual(t, bands["pause-1"][0].attrs["y"], bands["pause-2"][0].attrs["y"], "faults that overlap have lanes of their own")
	assert.Equal(t, x(10), tints["tint f-kill"].attrs["x"])
	assert.Equal(t, [2]string{x(15), coordinate(130.2)}, [2]string{tints["tint f-pause"].attrs["x"], tints["tint f-pause"].attrs["width"]}, "two that overlap are one tint")
}

func TestEachBandIsLabelled(t *testing.T) {
	s := good(60)
	h, _ := s.finish(t, t.TempDir())
	picture := string(rate(h))
	for _, w := range h.Windows {
		assert.Contains(t, picture, w.Name+" at ", "what the mouse finds")
		assert.Contains(t, picture, ">"+w.Kind, "its lane's name")
	}
	for _, name := range families {
		assert.Contains(t, picture, ">"+name+"</text>", "the legend")
	}
}

// long is a history of many operations and faults, and one slow operation of which nobody knows what became.
func long(operations, faults int) *history.History {
	random := rand.New(rand.NewPCG(3, 4))
	h := &history.History{End: 3600 * second}
	names := [...]string{history.Create, history.Update, history.Put, history.Patch, history.Delete, history.Get, history.List}
	for i := range operations {
		began := int64(i) * h.End / int64(operations)
		op := history.Operation{Index: int64(i), Process: "1", F: names[random.IntN(len(names))], Node: "node-" + strconv.Itoa(random.IntN(5)), Request: &history.Request{Key: "a/x"},
			Outcome: history.OK, Answer: &history.Answer{Code: 200}, Invoked: began}
		switch random.IntN(10) {
		case 0:
			op.Outcome, op.Answer = history.Fail, &history.Answer{Code: 503}
		case 1:
			op.Outcome = history.Info
		}
		op.Settled = min(began+int64(random.ExpFloat64()*random.ExpFloat64()*5e6), h.End)
		op.Returned = op.Settled
		if op.Outcome == history.Info {
			op.Returned = history.Never
		}
		h.Operations = append(h.Operations, op)
	}
	h.Operations = append(h.Operations, history.Operation{F: history.Get, Node: "node-1", Request: &history.Request{Key: "a/x"}, Outcome: history.OK, Answer: &history.Answer{Code: 200},
		Invoked: 1800 * second, Settled: 2700 * second, Returned: 2700 * second})
	for i := range faults {
		start := int64(i) * h.End / int64(faults)
		name := families[i%len(families)] + "-" + strconv.Itoa(i%20)
		h.Windows = append(h.Windows, history.Window{Kind: name, Start: start, Stop: start + 3*second, Fault: history.Fault{Name: name + "-" + strconv.Itoa(i), Family: families[i%len(families)], Nodes: []string{"node-1"}}})
	}
	for i := range 5 * 3600 {
		h.Samples = append(h.Samples, history.Event{Time: int64(i) * second / 5, Node: "node-" + strconv.Itoa(i%5), Sample: &history.Sample{Role: "leader", Revision: uint64(1000 + i - random.IntN(50))}})
	}
	return h
}

func TestPicturesOfALongRunAreSmall(t *testing.T) {
	h := long(80_000, 3000)
	for name, picture := range map[string][]byte{"latency": latency(h), "rate": rate(h), "availability": availability(Gaps(h), h), "lag": lag(h)} {
		assert.Less(t, len(picture), 700_000, name)
		assert.Greater(t, len(picture), 5_000, name)
	}
}

func TestWhatLiesAloneIsAlwaysDrawn(t *testing.T) {
	h := long(60_000, 0)
	_, points := byOperation(h)
	low, high := decades(points)
	require.Equal(t, 12, high, "a quarter of an hour needs an axis up to a thousand seconds")
	f := newFrame("", "", h, 100)
	all := f.spots(7.5, low, high, points[history.Get], history.OK)
	for _, most := range []int{len(all), 2000, 500, 100} {
		spots := thin(all, most)
		assert.LessOrEqual(t, len(spots), most)
		alone := slices.ContainsFunc(spots, func(s [2]int) bool { return s[0] == chartLeft+(chartRight-chartLeft)/2 && s[1] < 12 })
		assert.True(t, alone, "of %d spots", most)
	}
}

func TestGapsAreOfWhoeverWaited(t *testing.T) {
	op := func(node, f string, from, to int64, outcome history.Type, code int) history.Operation {
		o := history.Operation{F: f, Node: node, Outcome: outcome, Answer: &history.Answer{Code: code}, Invoked: from * second, Settled: to * second, Returned: to * second}
		if outcome == history.Info {
			o.Returned = history.Never
		}
		return o
	}
	h := &history.History{End: 100 * second, Operations: []history.Operation{
		op("a", "update", 1, 2, history.OK, 200),
		op("b", "update", 2, 3, history.Fail, 409), // an answer
		op("a", "update", 20, 21, history.Fail, 503),
		op("a", "update", 21, 22, history.Info, 504),
		op("b", "update", 23, 24, history.OK, 200), // nobody waited from 3 to 20
		op("a", "update", 30, 31, history.OK, 200),
		op("b", "get", 40, 50, history.Info, 0),
	}}
	got := make(map[string]Gap)
	for _, g := range Gaps(h) {
		g.gaps = nil
		got[g.Node+" "+g.F] = g
	}
	assert.Equal(t, map[string]Gap{
		" update":  {F: "update", From: 20 * second, Long: 4 * second, Asked: 6, Served: 4},
		"a update": {Node: "a", F: "update", From: 20 * second, Long: 11 * second, Asked: 4, Served: 2},
		"b update": {Node: "b", F: "update", From: 2 * second, Long: second, Asked: 2, Served: 2},
		" get":     {F: "get", From: 40 * second, Long: 10 * second, Asked: 1},
		"b get":    {Node: "b", F: "get", From: 40 * second, Long: 10 * second, Asked: 1},
	}, got)
}

func TestLagIsBehindTheMostAdvanced(t *testing.T) {
	sample := func(at int64, node string, revision uint64, failure string) history.Event {
		return history.Event{Time: at, Node: node, Sample: &history.Sample{Revision: revision, Error: failure}}
	}
	_, by := lags(&history.History{Samples: []history.Event{sample(1, "a", 1000, ""), sample(2, "b", 1010, ""), sample(3, "a", 1003, ""), sample(4, "b", 0, "refused"), sample(5, "a", 1020, "")}})
	assert.Equal(t, []behind{{1, 0, false, true}, {3, 7, false, true}, {5, 0, false, true}}, by["a"])
	assert.Equal(t, behind{4, 1010, false, false}, by["b"][1])
}

func TestAnEmptyHistoryHasAPageToo(t *testing.T) {
	h := &history.History{}
	for _, picture := range [][]byte{latency(h), rate(h), availability(Gaps(h), h), lag(h)} {
		elements(t, string(picture))
	}
}
