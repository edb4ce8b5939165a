package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/leasehold/leasehold/jepsen/history"
)

// operations are the plots of a picture, in their order. Others follow by name.
var operations = [...]string{history.Create, history.Update, history.Put, history.Patch, history.Delete, history.Get, history.List, history.Watch}

// mostPlots bounds the plots of one picture.
const mostPlots = 10

// point is an operation as the pictures see it.
type point struct {
	began, ended int64
	outcome      history.Type
}

// byOperation sorts a history's operations, and the opening of its watches, into plots.
func byOperation(h *history.History) (names []string, points map[string][]point) {
	points = make(map[string][]point)
	for i := range h.Operations {
		op := &h.Operations[i]
		points[op.F] = append(points[op.F], point{op.Invoked, min(op.Settled, h.End), op.Outcome})
	}
	for i := range h.Streams {
		s := &h.Streams[i]
		if ended := min(s.Opened, s.Ended, h.End); ended >= s.Invoked {
			points[history.Watch] = append(points[history.Watch], point{s.Invoked, ended, s.Outcome})
		}
	}
	for name := range points {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		ra, rb := slices.Index(operations[:], a), slices.Index(operations[:], b)
		if ra < 0 {
			ra = len(operations)
		}
		if rb < 0 {
			rb = len(operations)
		}
		if ra != rb {
			return ra - rb
		}
		return strings.Compare(a, b)
	})
	return names[:min(len(names), mostPlots)], points
}

const plotHeight, plotGap = 84.0, 12.0

// latency draws how long each operation took.
func latency(h *history.History) []byte {
	names, points := byOperation(h)
	f := newFrame("How long operations took", "one dot an operation, at the time of its call; each kind on a log axis of its own row", h,
		float64(len(names))*(plotHeight+plotGap))
	f.outcomeLegend()
	low, high := decades(points)
	y := f.top
	for _, name := range names {
		f.panel(y, plotHeight, name, plural(len(points[name]), "call"))
		f.decadeAxis(y, low, high)
		f.quantiles(y, points[name])
		f.dots(y, low, high, points[name])
		y += plotHeight + plotGap
	}
	return f.bytes("latency", "latency of operations over time")
}

// decades are the powers of ten, in nanoseconds, between which all durations lie.
func decades(points map[string][]point) (low, high int) {
	shortest, longest := int64(math.MaxInt64), int64(1)
	for _, some := range points {
		for _, p := range some {
			shortest, longest = min(shortest, p.ended-p.began), max(longest, p.ended-p.began)
		}
	}
	low = int(math.Floor(math.Log10(float64(min(max(shortest, 10_000), longest, 1_000_000)))))
	high = int(math.Ceil(math.Log10(float64(max(longest, 10_000_000)))))
	return min(low, high-2), high
}

func (f *frame) decadeAxis(y float64, low, high int) {
	every := 1
	if high-low > 4 {
		every = 2
	}
	for d := low; d <= high; d += every {
		at := y + plotHeight - plotHeight*float64(d-low)/float64(high-low)
		f.put(`<path class="grid" d="M%v %vH%v"/><text class="small soft end" x="%v" y="%v">%v</text>`, float64(chartLeft), at, float64(chartRight), float64(chartLeft-4), at+3, decade(d))
	}
}

func decade(d int) string {
	switch {
	case d < 6:
		return strconv.Itoa(int(math.Pow10(d-3))) + " µs"
	case d < 9:
		return strconv.Itoa(int(math.Pow10(d-6))) + " ms"
	default:
		return strconv.Itoa(int(math.Pow10(d-9))) + " s"
	}
}

// quantiles writes the figures of a plot at its right.
func (f *frame) quantiles(y float64, points []point) {
	var took []int64
	for _, p := range points {
		if p.outcome == history.OK {
			took = append(took, p.ended-p.began)
		}
	}
	if len(took) == 0 {
		f.put(`<text class="small soft" x="%v" y="%v">none done</text>`, float64(chartRight+10), y+14)
		return
	}
	slices.Sort(took)
	for i, q := range []struct {
		name  string
		share float64
	}{{"median", 0.5}, {"99 %", 0.99}, {"worst", 1}} {
		value := took[min(int(float64(len(took))*q.share), len(took)-1)]
		f.put(`<text class="small soft" x="%v" y="%v">%v</text><text class="small end" x="%v" y="%v">%v</text>`,
			float64(chartRight+10), y+14+float64(i)*15, q.name, float64(chartWidth-8), y+14+float64(i)*15, span(value))
	}
}

// The most dots that a plot has of one outcome. Dots on one spot are one; spots grow until there are few enough, so that
// what lies alone is drawn always.
const (
	mostDone  = 3000
	mostOther = 1000
)

func (f *frame) dots(y float64, low, high int, points []point) {
	for _, one := range []struct {
		outcome history.Type
		most    int
	}{{history.OK, mostDone}, {history.Fail, mostOther}, {history.Info, mostOther}} {
		spots := thin(f.spots(y, low, high, points, one.outcome), one.most)
		if len(spots) == 0 {
			continue
		}
		var path strings.Builder
		for _, s := range spots {
			fmt.Fprintf(&path, "M%d %dh0", s[0], s[1])
		}
		f.put(`<path class="dots s-%v" d="%v"/>`, string(one.outcome), path.String())
	}
}

// spots are the pixels of an outcome's points, each once.
func (f *frame) spots(y float64, low, high int, points []point, outcome history.Type) [][2]int {
	const rows = int(plotHeight) + 2
	taken := make([]bool, (chartWidth+1)*rows)
	var out [][2]int
	for _, p := range points {
		if p.outcome != outcome {
			continue
		}
		height := plotHeight * (math.Log10(float64(max(p.ended-p.began, 1))) - float64(low)) / float64(high-low)
		place := [2]int{int(f.x(p.began)), int(y + plotHeight - min(max(height, 0), plotHeight))}
		if i := place[0]*rows + place[1] - int(y); !taken[i] {
			taken[i] = true
			out = append(out, place)
		}
	}
	return out
}

// thin keeps one spot of each square, and lets squares grow until there are few enough. What lies alone stays.
func thin(spots [][2]int, most int) [][2]int {
	for cell := 2; len(spots) > most; cell++ {
		taken := make(map[[2]int]bool)
		var fewer [][2]int
		for _, place := range spots {
			if square := [2]int{place[0] / cell, place[1] / cell}; !taken[square] {
				taken[square] = true
				fewer = append(fewer, place)
			}
		}
		spots = fewer
	}
	return spots
}
