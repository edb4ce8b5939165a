package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/leasehold/leasehold/jepsen/history"
)

// Gap is the longest time in which somebody waited for a kind of operation at a node, and nobody was answered as a
// healthy server would.
type Gap struct {
	Node string `json:"node"` // "" for all nodes together
	F    string `json:"f"`
	From int64  `json:"from"` // nanoseconds into the history
	Long int64  `json:"long"` // nanoseconds
	// Asked is how many operations there were at all, Served how many were answered.
	Asked  int `json:"asked"`
	Served int `json:"served"`

	gaps []interval // all that can be seen in a picture
}

type interval struct{ from, to int64 }

// Gaps finds the longest gap of each kind of operation, first over all nodes together, then at each node. A gap begins
// at a call, or at an answer while others wait, and ends at the next answer, however often it was tried in vain meanwhile.
// So silence in which nobody asked is none.
func Gaps(h *history.History) []Gap {
	type row struct{ node, f string }
	instants := make(map[row][]int64) // times four and what happened
	for i := range h.Operations {
		op := &h.Operations[i]
		end := min(op.Settled, h.End)*4 + inVain
		if served(op) {
			end = op.Returned*4 + answer
		}
		for _, r := range []row{{"", op.F}, {op.Node, op.F}} {
			instants[r] = append(instants[r], op.Invoked*4+call, end)
			if op.Node == "" {
				break
			}
		}
	}
	gaps := make([]Gap, 0, len(instants))
	for r, times := range instants {
		g := Gap{Node: r.node, F: r.f}
		g.sweep(times, min(h.End/2000, noticed))
		gaps = append(gaps, g)
	}
	slices.SortFunc(gaps, func(a, b Gap) int {
		return cmp.Or(strings.Compare(a.Node, b.Node), cmp.Compare(slices.Index(operations[:], a.F), slices.Index(operations[:], b.F)), strings.Compare(a.F, b.F))
	})
	return gaps
}

// What happens at an instant. Calls come first, so that nothing is answered before it was called.
const (
	call = iota
	answer
	inVain
)

// sweep goes through a row's instants and keeps gaps of at least visible.
func (g *Gap) sweep(times []int64, visible int64) {
	slices.Sort(times)
	waiting, open, began := 0, false, int64(0)
	note := func(end int64) {
		if end-began > g.Long {
			g.From, g.Long = began, end-began
		}
		if end-began > visible {
			g.gaps = append(g.gaps, interval{began, end})
		}
	}
	for _, t := range times {
		now := t / 4
		switch t % 4 {
		case call:
			g.Asked++
			waiting++
			if !open {
				open, began = true, now
			}
		case answer:
			g.Served++
			waiting--
			note(now)
			open, began = waiting > 0, now
		default:
			waiting--
		}
	}
	if open && len(times) > 0 {
		note(times[len(times)-1] / 4)
	}
}

const (
	mostGapRows = 64
	mostGaps    = 3000 // in all rows, the longest of each
	gapRow      = 17.0
)

// noticed is the shortest gap, in nanoseconds, that is always drawn.
const noticed = 500_000_000

// severity is the colour class of a gap: what nobody notices, what a client notices, what costs a client its lease.
func severity(long int64) string {
	switch {
	case long < noticed:
		return "g0"
	case long < 2_000_000_000:
		return "g1"
	default:
		return "g2"
	}
}

// availability draws when each node answered each kind of operation, and how long it did not.
func availability(gaps []Gap, h *history.History) []byte {
	rows := gaps[:min(len(gaps), mostGapRows)]
	groups := 0
	for i := range rows {
		if i == 0 || rows[i].Node != rows[i-1].Node {
			groups++
		}
	}
	f := newFrame("When nothing was answered", "coloured where somebody waited and nobody was answered; refusals that follow from an object's state, such as conflicts, are answers", h, float64(len(rows))*gapRow+float64(groups)*8)
	f.put(`<style>.served{fill:var(--good);fill-opacity:.55}.g0{fill:var(--paper);fill-opacity:.75}.g1{fill:#f2a33a}.g2{fill:var(--bad)}</style>`)
	x := float64(chartRight) - 470
	for _, one := range []struct{ class, text string }{{"served", "nobody waited long"}, {"g1", "nothing for half a second"}, {"g2", "nothing for two seconds"}} {
		f.put(`<rect class="%v" x="%v" y="13" width="14" height="10" rx="2"/><text x="%v" y="22">%v</text>`, one.class, x, x+20, one.text)
		x += 44 + textWidth(one.text, 11)
	}
	f.put(`<text class="small soft end" x="%v" y="%v">longest gap</text>`, float64(chartWidth-8), f.top-3)
	y := f.top
	for i := range rows {
		g := &rows[i]
		if i == 0 || g.Node != rows[i-1].Node {
			name := g.Node
			if i == 0 && g.Node == "" {
				name = "any node"
			}
			y += 8
			f.put(`<text class="strong" x="16" y="%v">%v</text>`, y+11, fit(name, 11, 74))
		}
		f.gapRow(y, g, mostGaps/len(rows))
		y += gapRow
	}
	return f.bytes("availability", "gaps without an answer over time")
}

func (f *frame) gapRow(y float64, g *Gap, most int) {
	f.put(`<text class="small end" x="%v" y="%v">%v</text>`, float64(chartLeft-8), y+11, fit(g.F, 10, 50))
	if g.Served > 0 {
		f.put(`<rect class="served" x="%v" y="%v" width="%v" height="11"/>`, float64(chartLeft), y+2, float64(chartRight-chartLeft))
	}
	slices.SortFunc(g.gaps, func(a, b interval) int { return cmp.Compare(b.to-b.from, a.to-a.from) })
	for _, one := range g.gaps[:min(len(g.gaps), most)] {
		class, from, to := severity(one.to-one.from), f.x(one.from), f.x(one.to)
		if class == "g0" {
			if to-from >= 1 {
				f.put(`<rect class="g0" x="%v" y="%v" width="%v" height="11"/>`, from, y+2, to-from)
			}
			continue
		}
		f.put(`<rect class="%v" x="%v" y="%v" width="%v" height="11"><title>%v</title></rect>`, class, from, y+2, max(to-from, 1),
			"nothing from "+at(one.from)+" to "+at(one.to)+", "+span(one.to-one.from))
	}
	f.put(`<text class="small end" x="%v" y="%v">%v</text>`, float64(chartWidth-8), y+11, span(g.Long))
}
