package report

import (
	"fmt"
	"strconv"

	"github.com/leasehold/leasehold/jepsen/history"
)

const (
	chartWidth = 1120
	chartLeft  = 132
	chartRight = 1000 // right of it is room for figures
)

// frame is what the pictures over a whole run share: title, legend of faults, the faults' lanes, the axis of time.
type frame struct {
	canvas
	end int64   // time at the right edge
	top float64 // y where the plots begin
	bot float64 // y where they end
}

// newFrame begins a picture whose plots are body pixels high together.
func newFrame(title, note string, h *history.History, body float64) *frame {
	f := &frame{end: max(h.End, 1)}
	f.width = chartWidth
	rows := lanes(h.Windows, f.end)
	f.put(`<text class="title" x="16" y="22">%v</text>`, title)
	f.put(`<text class="soft" x="16" y="39">%v</text>`, note)
	y := 54.0
	if len(rows) > 0 {
		f.familyLegend(rows, y)
		y += 22
	}
	lanesFrom := y
	f.top = y + float64(len(rows))*laneHeight + 8
	f.bot = f.top + body
	f.height = f.bot + 40
	f.drawTints(rows, f.top, f.bot, chartLeft, chartRight, f.end, f.x)
	f.drawLanes(rows, lanesFrom, chartLeft, chartRight, f.end, f.x)
	f.timeAxis()
	return f
}

// x is the place of a time.
func (f *frame) x(t int64) float64 {
	t = min(max(t, 0), f.end)
	return chartLeft + (chartRight-chartLeft)*float64(t)/float64(f.end)
}

func (f *frame) familyLegend(rows []lane, y float64) {
	f.put(`<text class="small soft end" x="%v" y="%v">faults</text>`, float64(chartLeft-8), y+4)
	x, last := float64(chartLeft), ""
	for _, row := range rows {
		if row.family == last {
			continue
		}
		last = row.family
		f.put(`<rect class="band f-%v" x="%v" y="%v" width="14" height="10" rx="1.5"/><text class="small" x="%v" y="%v">%v</text>`,
			row.family, x, y-4, x+19, y+4, row.family)
		x += 30 + textWidth(row.family, 10)
	}
	f.put(`<rect class="band unfelt f-load" x="%v" y="%v" width="14" height="10" rx="1.5"/><text class="small soft" x="%v" y="%v">dashed: nothing shows that it was felt</text>`, x, y-4, x+19, y+4)
}

func (f *frame) timeAxis() {
	step := timeStep(f.end)
	for t := int64(0); t <= f.end; t += step {
		f.put(`<path class="grid" d="M%v %vV%v"/><text class="small soft mid" x="%v" y="%v">%v</text>`, f.x(t), f.top, f.bot, f.x(t), f.bot+15, tick(t, step))
	}
	f.put(`<text class="small soft mid" x="%v" y="%v">time since the run began</text>`, float64(chartLeft+chartRight)/2, f.bot+31)
}

// timeStep is a round step that gives about ten ticks.
func timeStep(end int64) int64 {
	const s = int64(1e9)
	for _, step := range []int64{s / 1000, s / 500, s / 200, s / 100, s / 50, s / 20, s / 10, s / 5, s / 2, s, 2 * s, 5 * s, 10 * s, 15 * s, 30 * s,
		60 * s, 120 * s, 300 * s, 600 * s, 900 * s, 1800 * s, 3600 * s, 7200 * s, 4 * 3600 * s, 6 * 3600 * s, 12 * 3600 * s, 24 * 3600 * s} {
		if end/step <= 12 {
			return step
		}
	}
	return end/12 + 1
}

func tick(t, step int64) string {
	switch {
	case t == 0:
		return "0"
	case step < 1e9:
		return strconv.FormatFloat(float64(t)/1e9, 'g', 6, 64) + " s"
	case step < 60e9:
		if t >= 60e9 {
			return fmt.Sprintf("%d:%02d min", t/60e9, t%60e9/1e9)
		}
		return fmt.Sprintf("%d s", t/1e9)
	case step < 3600e9:
		if t >= 3600e9 {
			return fmt.Sprintf("%d:%02d h", t/3600e9, t%3600e9/60e9)
		}
		return fmt.Sprintf("%d min", t/60e9)
	default:
		return fmt.Sprintf("%d h", t/3600e9)
	}
}

// panel draws the ground of one plot and its name at the left.
func (f *frame) panel(y, height float64, name, note string) {
	f.put(`<rect class="frame" x="%v" y="%v" width="%v" height="%v"/>`, float64(chartLeft), y, float64(chartRight-chartLeft), height)
	f.put(`<text class="strong" x="16" y="%v">%v</text>`, y+14, name)
	if note != "" {
		f.put(`<text class="small soft" x="16" y="%v">%v</text>`, y+28, note)
	}
}

// outcomeLegend explains the colours of outcomes, at the right of the title.
func (f *frame) outcomeLegend() {
	x := float64(chartRight)
	for _, one := range []struct{ class, text string }{{"info", "unknown outcome"}, {"fail", "refused"}, {"ok", "done"}} {
		x -= textWidth(one.text, 11)
		f.put(`<text x="%v" y="22">%v</text><rect class="a-%v" x="%v" y="13" width="10" height="10" rx="5"/>`, x, one.text, one.class, x-15)
		x -= 34
	}
}
