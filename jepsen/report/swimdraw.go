package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/leasehold/leasehold/jepsen/history"
)

// drawNodes draws who led when, by the nodes' own accounts, and the faults at each node.
func (s *swim) drawNodes(h *history.History, windows []history.Window, nodes []string) {
	for _, node := range nodes {
		y := s.nodeY[node]
		s.put(`<text class="strong end" x="%v" y="%v">%v</text>`, float64(swimLeft-10), y+4, fit(node, 11, swimLeft-24))
		s.put(`<path class="axis" d="M%v %vH%v"/>`, float64(swimLeft), y, float64(swimRight))
		var here []history.Window
		for _, w := range windows {
			if slices.Contains(w.Nodes, node) {
				here = append(here, w)
			}
		}
		rows := lanesBy(here, s.end, func(w *history.Window) string { return w.Name }, 1)
		high := min(10, 22/float64(max(len(rows), 1)))
		for i, row := range rows {
			w := row.windows[0]
			from, to := max(s.x(w.Start), swimLeft), min(s.x(stops(w, s.end)), swimRight)
			top := y - 8 + float64(i)*high
			class := "band"
			if !felt(w) {
				class = "band unfelt"
			}
			s.put(`<g><title>%v</title><rect class="%v f-%v" x="%v" y="%v" width="%v" height="%v" rx="2"/>`, tell(w, s.end), class, row.family, from, top, max(to-from, 2), high-1)
			if high > 9 {
				s.put(`<text class="small" x="%v" y="%v">%v</text>`, from+4, top+8, fit(w.Kind, 10, to-from-6))
			}
			s.put(`</g>`)
		}
	}
	for _, one := range tenures(h, s.instants[0], s.instants[len(s.instants)-1]) {
		y, known := s.nodeY[one.node]
		if !known {
			continue
		}
		from, to := s.x(one.from), s.x(one.to)
		s.put(`<path class="leader" d="M%v %vH%v"/>`, from, y-11, max(to, from+3))
		if label := fmt.Sprintf("leads, term %d", one.term); textWidth(label, 10) < to-from {
			s.put(`<text class="small soft" x="%v" y="%v">%v</text>`, to-4-textWidth(label, 10), y+12, label)
		}
	}
}

// tenure is a time in which a node said that it leads.
type tenure struct {
	node     string
	term     uint64
	from, to int64
}

// tenures are those that touch a time. One lasts from the first sample that says so until the first that does not.
func tenures(h *history.History, from, to int64) []tenure {
	var done []tenure
	open := make(map[string]*tenure)
	for i := range h.Samples {
		e := &h.Samples[i]
		if e.Sample == nil {
			continue
		}
		current := open[e.Node]
		if current != nil {
			current.to = e.Time
			if e.Sample.Role == "leader" && e.Sample.Term == current.term {
				continue
			}
			done = append(done, *current)
			delete(open, e.Node)
		}
		if e.Sample.Role == "leader" {
			open[e.Node] = &tenure{e.Node, e.Sample.Term, e.Time, e.Time}
		}
	}
	for _, one := range open {
		done = append(done, *one)
	}
	return slices.DeleteFunc(done, func(t tenure) bool { return t.to < from || t.from > to })
}

// drawStep draws a step's bar or mark in its client's lane, and its way to the node and back.
func (s *swim) drawStep(one step, context bool) {
	y, known := s.clientY[one.Client]
	if !known {
		return
	}
	class := "bar c-" + one.Class
	switch {
	case context:
		class += " context"
	case one.Decisive:
		class += " decisive"
	}
	from, to := s.x(one.From), s.x(min(one.To, s.end))
	nodeY, toNode := s.nodeY[one.Node]
	if toNode && !context && one.Class != "stream" {
		way := "way"
		if one.Decisive {
			way = "way decisive"
		}
		if one.Class == "event" {
			s.put(`<path class="%v" d="M%v %vL%v %v"/><circle class="dot" cx="%v" cy="%v" r="2.5"/>`, way, from-9, nodeY, from, y, from-9, nodeY)
		} else {
			middle := from + (max(to, from+6)-from)/2
			s.put(`<path class="%v" d="M%v %vL%v %v"/><circle class="dot" cx="%v" cy="%v" r="2.5"/>`, way, from, y, middle, nodeY, middle, nodeY)
			if one.Outcome != history.Info {
				s.put(`<path class="%v" d="M%v %vL%v %v"/>`, way, middle, nodeY, max(to, from+6), y)
			}
		}
	}
	title := strings.TrimSpace(fmt.Sprintf("%s: %s. %s", at(one.From), one.What, one.Answer))
	switch one.Class {
	case "event":
		s.put(`<path class="%v" d="M%v %vl6 6l-6 6l-6 -6z"><title>%v</title></path>`, class, from, y-6, title)
	case "stream":
		s.put(`<rect class="%v" x="%v" y="%v" width="%v" height="4" rx="2"><title>%v</title></rect>`, class, from, y-2, max(to-from, 4), title)
	default:
		if one.Outcome == history.Info {
			class += " unknown"
		}
		if one.Outcome == history.Fail {
			class += " refused"
		}
		s.put(`<rect class="%v" x="%v" y="%v" width="%v" height="10" rx="3"><title>%v</title></rect>`, class, from, y-5, max(to-from, 6), title)
	}
}

// drawLabel writes a step's number and what it is.
func (s *swim) drawLabel(one step, where placed) {
	y, known := s.clientY[one.Client]
	if !known {
		return
	}
	class := "badge"
	if one.Decisive {
		class = "badge decisive"
	}
	y -= 16 + labelHeight*float64(where.row)
	if where.row > 0 {
		s.put(`<path class="pin" d="M%v %vV%v"/>`, s.x(one.From), y+6, y+10+labelHeight*float64(where.row))
	}
	s.put(`<circle class="%v" cx="%v" cy="%v" r="7"/><text class="number mid" x="%v" y="%v">%v</text><text class="%v" x="%v" y="%v">%v</text>`,
		class, where.x+7, y, where.x+7, y+3.5, one.Number, strings.Replace(class, "badge", "tag", 1), where.x+18, y+4, one.Short)
}

// drawTimes writes the times of the instants that have room, and marks silences that are drawn shorter.
func (s *swim) drawTimes(from, to float64) {
	free := 0.0
	for i, t := range s.instants {
		s.put(`<path class="grid" stroke-dasharray="2 3" d="M%v %vV%v"/>`, s.places[i], from, to)
		label := at(t)
		half := textWidth(label, 10) / 2
		if s.places[i]-half < free {
			continue
		}
		s.put(`<text class="small soft mid" x="%v" y="%v">%v</text>`, s.places[i], to+13, label)
		free = s.places[i] + half + 6
	}
	s.put(`<text class="small soft" x="%v" y="%v">times since the run began; long silences are drawn shorter than they were. Faint: other operations on the same objects. Dashed: nobody can tell what became of it.</text>`, float64(swimLeft), to+28)
}
