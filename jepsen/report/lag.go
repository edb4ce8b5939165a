package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/leasehold/leasehold/jepsen/history"
)

// behind is how far a node was behind at a time.
type behind struct {
	at       int64
	missing  uint64
	leads    bool
	answered bool
}

// lags compares what each node says it has applied with the most that any had said by then.
func lags(h *history.History) (nodes []string, by map[string][]behind) {
	by = make(map[string][]behind)
	var most uint64
	for i := range h.Samples {
		e := &h.Samples[i]
		if e.Sample == nil {
			continue
		}
		s := e.Sample
		most = max(most, s.Revision)
		by[e.Node] = append(by[e.Node], behind{at: e.Time, missing: most - s.Revision, leads: s.Role == "leader", answered: s.Error == ""})
	}
	for node := range by {
		nodes = append(nodes, node)
	}
	slices.Sort(nodes)
	return nodes, by
}

const (
	lagHeight = 64.0
	lagPoints = 900 // about one a pixel
)

// lag draws how many revisions each node was behind the most advanced one, and who led.
func lag(h *history.History) []byte {
	nodes, by := lags(h)
	nodes = nodes[:min(len(nodes), 9)]
	note := "revisions behind the most advanced node, by the nodes' own accounts, on a log axis; grey where a node did not answer"
	if len(nodes) == 0 {
		note = "no node was asked about itself in this run"
	}
	f := newFrame("How far nodes were behind", note, h, float64(len(nodes))*(lagHeight+plotGap))
	f.put(`<style>.mute{fill:var(--soft);fill-opacity:.28}.behind{fill:none;stroke:var(--read);stroke-width:1.5;stroke-linejoin:round}.under{fill:var(--read);fill-opacity:.16}.leads{fill:var(--n1)}</style>`)
	f.put(`<rect class="leads" x="%v" y="14" width="22" height="5"/><text x="%v" y="22">leads</text>`, float64(chartRight-60), float64(chartRight-32))
	most := uint64(9)
	for _, samples := range by {
		for _, s := range samples {
			if s.answered {
				most = max(most, s.missing)
			}
		}
	}
	y := f.top
	for _, node := range nodes {
		f.lagPlot(y, node, by[node], most)
		y += lagHeight + plotGap
	}
	return f.bytes("lag", "revisions behind over time")
}

func (f *frame) lagPlot(y float64, node string, samples []behind, most uint64) {
	f.panel(y, lagHeight, fit(node, 11, 80), "")
	top := math.Log1p(float64(most))
	height := func(missing uint64) float64 { return y + lagHeight - (lagHeight-8)*math.Log1p(float64(missing))/top }
	for v := uint64(0); v <= most; v = max(v*10, 10) {
		if v == 0 || v*10 > most || most < 1000 {
			f.put(`<path class="grid" d="M%v %vH%v"/><text class="small soft end" x="%v" y="%v">%v</text>`, float64(chartLeft), height(v), float64(chartRight), float64(chartLeft-4), height(v)+3, grouped(int(v)))
		}
	}
	var line strings.Builder
	var worst uint64
	var level int64 = -1
	drawn, silent, leading, startX := -1, int64(-1), int64(-1), 0.0
	closeArea := func() {
		if line.Len() > 0 {
			f.put(`<path class="behind" d="%v"/><path class="under" d="%vV%vH%vZ"/>`, line.String(), line.String(), y+lagHeight, startX)
			line.Reset()
		}
	}
	pixelWorst := uint64(0)
	for i, s := range samples {
		x := f.x(s.at)
		if !s.answered {
			if silent < 0 {
				silent = s.at
				closeArea()
				drawn = -1
			}
		} else {
			if silent >= 0 {
				f.put(`<rect class="mute" x="%v" y="%v" width="%v" height="%v"/>`, f.x(silent), y, max(x-f.x(silent), 1), lagHeight)
				silent = -1
			}
			worst = max(worst, s.missing)
			level = int64(s.missing)
			pixel := int(x * lagPoints / (chartRight - chartLeft))
			if pixel != drawn || s.missing > pixelWorst {
				if line.Len() == 0 {
					startX = x
					fmt.Fprintf(&line, "M%s %s", coordinate(x), coordinate(height(s.missing)))
				} else {
					fmt.Fprintf(&line, "L%s %s", coordinate(x), coordinate(height(s.missing)))
				}
				if pixel != drawn {
					pixelWorst = 0
				}
				drawn, pixelWorst = pixel, max(pixelWorst, s.missing)
			}
		}
		leads := s.leads && s.answered
		if leads && leading < 0 {
			leading = s.at
		}
		if leading >= 0 && (!leads || i == len(samples)-1) {
			f.put(`<rect class="leads" x="%v" y="%v" width="%v" height="4"/>`, f.x(leading), y, max(x-f.x(leading), 1))
			leading = -1
		}
	}
	if silent >= 0 {
		f.put(`<rect class="mute" x="%v" y="%v" width="%v" height="%v"/>`, f.x(silent), y, max(f.x(samples[len(samples)-1].at)-f.x(silent), 1), lagHeight)
	}
	closeArea()
	f.put(`<text class="small soft" x="%v" y="%v">worst</text><text class="small end" x="%v" y="%v">%v</text>`, float64(chartRight+10), y+14, float64(chartWidth-8), y+14, grouped(int(worst)))
	if level >= 0 {
		f.put(`<text class="small soft" x="%v" y="%v">at the end</text><text class="small end" x="%v" y="%v">%v</text>`, float64(chartRight+10), y+29, float64(chartWidth-8), y+29, grouped(int(level)))
	}
}
