package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/leasehold/leasehold/jepsen/history"
)

// rateBins bounds the steps of a rate's line.
const rateBins = 300

// rate draws how many operations ended in a second, by outcome, one on the other.
func rate(h *history.History) []byte {
	names, points := byOperation(h)
	width := max(h.End/rateBins+1, 100_000_000)
	if n := int64(len(h.Operations) + 1); n < 4*rateBins*int64(len(names)) { // a step holds some of each kind
		width = max(width, min(h.End*int64(len(names))*4/n, h.End/40))
	}
	f := newFrame("How many operations a second", "by the time of their end, outcomes one on the other, counted in steps of "+span(width), h,
		float64(len(names))*(plotHeight+plotGap))
	f.outcomeLegend()
	y := f.top
	for _, name := range names {
		f.ratePlot(y, name, points[name], width)
		y += plotHeight + plotGap
	}
	return f.bytes("rate", "operations a second over time")
}

func (f *frame) ratePlot(y float64, name string, points []point, width int64) {
	order := [...]history.Type{history.Info, history.Fail, history.OK} // from below
	bins := make([][3]float64, f.end/width+1)
	var totals [3]int
	for _, p := range points {
		for i, outcome := range order {
			if p.outcome == outcome {
				bins[min(p.ended/width, int64(len(bins)-1))][i] += 1e9 / float64(width)
				totals[i]++
			}
		}
	}
	highest := 1.0
	for _, b := range bins {
		highest = max(highest, b[0]+b[1]+b[2])
	}
	highest = roundUp(highest)
	f.panel(y, plotHeight, name, "")
	for i, word := range []string{"done", "refused", "unknown"} {
		f.put(`<text class="small soft" x="%v" y="%v">%v</text><text class="small end" x="%v" y="%v">%v</text>`,
			float64(chartRight+10), y+14+float64(i)*15, word, float64(chartWidth-8), y+14+float64(i)*15, grouped(totals[2-i]))
	}
	below := make([]float64, len(bins))
	for i, outcome := range order {
		if totals[i] == 0 {
			continue
		}
		above := make([]float64, len(bins))
		for b := range bins {
			above[b] = below[b] + bins[b][i]
		}
		f.put(`<path class="a-%v" fill-opacity=".75" d="%v"/>`, string(outcome), f.area(y, below, above, width, highest))
		below = above
	}
	for _, share := range []float64{0, 0.5, 1} {
		at := y + plotHeight*(1-share)
		f.put(`<path class="grid" d="M%v %vH%v"/><text class="small soft end" x="%v" y="%v">%v</text>`, float64(chartLeft), at, float64(chartRight),
			float64(chartLeft-4), at+3, strconv.FormatFloat(highest*share, 'g', 4, 64)+"/s")
	}
}

// area is the path round what lies between two stepped lines.
func (f *frame) area(y float64, below, above []float64, width int64, highest float64) string {
	var there, back strings.Builder
	for i := range above {
		from, to := f.x(int64(i)*width), f.x(int64(i+1)*width)
		if i == 0 {
			fmt.Fprintf(&there, "M%s %s", coordinate(from), coordinate(y+plotHeight*(1-above[i]/highest)))
		} else {
			fmt.Fprintf(&there, "V%s", coordinate(y+plotHeight*(1-above[i]/highest)))
		}
		fmt.Fprintf(&there, "H%s", coordinate(to))
	}
	for i := len(below) - 1; i >= 0; i-- {
		fmt.Fprintf(&back, "V%sH%s", coordinate(y+plotHeight*(1-below[i]/highest)), coordinate(f.x(int64(i)*width)))
	}
	return there.String() + back.String() + "Z"
}

// roundUp is the next of 1, 2, 5, 10, 20...
func roundUp(v float64) float64 {
	power := math.Pow10(int(math.Floor(math.Log10(v))))
	for _, factor := range []float64{1, 2, 5} {
		if v <= factor*power {
			return factor * power
		}
	}
	return 10 * power
}
