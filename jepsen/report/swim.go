package report

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/leasehold/leasehold/jepsen/history"
)

const (
	swimWidth   = 1120
	swimLeft    = 150
	swimRight   = 1100
	mostClients = 12
	mostNodes   = 9
	labelHeight = 17.0
)

// swim is the picture of a few operations: clients and nodes as lanes, the faults in force behind.
type swim struct {
	canvas
	instants []int64   // times that matter, rising
	places   []float64 // x of each
	end      int64
	clientY  map[string]float64
	nodeY    map[string]float64
}

// swimlanes draws steps, with others beside them as context. Long silences between steps are drawn shorter than they were.
func swimlanes(h *history.History, all, context []step, inForce []string, nodes []string) []byte {
	if len(all) == 0 {
		return nil
	}
	s := &swim{end: max(h.End, 1), clientY: make(map[string]float64), nodeY: make(map[string]float64)}
	s.width = swimWidth
	windows := s.concerned(h, all, inForce)
	s.scale(all, windows, inForce)

	clients := clientsOf(all, context)
	nodes = nodesOf(all, nodes)
	labels, heights := s.layLabels(all, clients)

	rows := lanes(windows, s.end)
	y := 8.0
	faultsFrom := y
	y += float64(len(rows))*laneHeight + 10
	bodyFrom := y
	for i, client := range clients {
		s.clientY[client] = y + heights[i] - 14
		y += heights[i] + 6
	}
	y += 6
	nodesFrom := y
	for _, node := range nodes {
		s.nodeY[node] = y + 14
		y += 34
	}
	bodyTo := y
	s.height = y + 34

	for i, client := range clients {
		s.put(`<rect class="lane" x="8" y="%v" width="%v" height="%v" rx="4"/>`, s.clientY[client]+14-heights[i], float64(swimWidth-16), heights[i])
	}
	for _, node := range nodes {
		s.put(`<rect class="lane" x="8" y="%v" width="%v" height="28" rx="4"/>`, s.nodeY[node]-14, float64(swimWidth-16))
	}
	s.put(`<path class="grid" d="M8 %vH%v"/>`, nodesFrom-6, float64(swimWidth-8))
	s.drawTints(rows, bodyFrom-4, bodyTo, swimLeft, swimRight, s.end, s.x)
	s.drawLanes(rows, faultsFrom, swimLeft, swimRight, s.end, s.x)
	s.drawNodes(h, windows, nodes)
	for _, client := range clients {
		s.put(`<text class="strong end" x="%v" y="%v">%v</text>`, float64(swimLeft-10), s.clientY[client]+4, fit("client "+client, 11, swimLeft-24))
	}
	for _, one := range context {
		s.drawStep(one, true)
	}
	for _, one := range all {
		s.drawStep(one, false)
	}
	for i, one := range all {
		s.drawLabel(one, labels[i])
	}
	s.drawTimes(bodyFrom, bodyTo)
	return s.bytes("swim", "the operations concerned over time, clients above, nodes below")
}

// concerned are the faults that overlap the steps' time.
func (s *swim) concerned(h *history.History, all []step, inForce []string) []history.Window {
	from, to := around(all, s.end)
	var windows []history.Window
	for _, w := range h.Windows {
		if slices.Contains(inForce, w.Name) || w.Start <= to && stops(&w, s.end) >= from {
			windows = append(windows, w)
		}
	}
	return windows[:min(len(windows), 40)]
}

// around is the time that a picture of steps shows. A watch may have been open for long, and a fault in force: when they
// began and ended does not count, unless there is nothing else.
func around(all []step, end int64) (from, to int64) {
	from, to = history.Never, 0
	for _, one := range all {
		if one.Class != "stream" && one.Class != "fault" {
			from, to = min(from, one.From), max(to, one.From)
			if one.To != history.Never {
				to = max(to, min(one.To, end))
			}
		}
	}
	if from == history.Never {
		return all[0].From, max(all[0].From, min(all[0].To, end))
	}
	return from, to
}

// scale chooses the instants that matter and their places. A silence a thousand times as long is drawn some six times as wide.
func (s *swim) scale(all []step, windows []history.Window, inForce []string) {
	from, to := around(all, s.end)
	for _, one := range all {
		for _, t := range []int64{one.From, one.To} {
			if t >= from && t <= to {
				s.instants = append(s.instants, t)
			}
		}
	}
	slices.Sort(s.instants)
	last := s.instants[len(s.instants)-1]
	for i := range windows {
		w := &windows[i]
		if slices.Contains(inForce, w.Name) {
			s.instants = append(s.instants, w.Start)
		}
		if w.Stop > s.instants[0] && w.Stop < last {
			s.instants = append(s.instants, w.Stop)
		}
	}
	slices.Sort(s.instants)
	s.instants = slices.Compact(s.instants)

	const left, right = swimLeft + 26, swimRight - 70
	weights := make([]float64, len(s.instants))
	total := 0.0
	for i := 1; i < len(s.instants); i++ {
		weights[i] = 1 + math.Pow(float64(s.instants[i]-s.instants[i-1]), 0.27)
		total += weights[i]
	}
	floor := min(16, (right-left)/float64(2*len(s.instants))) // what every step gets at least
	room := (right - left) - floor*float64(len(s.instants)-1)
	s.places = make([]float64, len(s.instants))
	s.places[0] = left
	for i := 1; i < len(s.instants); i++ {
		s.places[i] = s.places[i-1] + floor + room*weights[i]/total
	}
}

// x is the place of a time; what lies outside is at the edges.
func (s *swim) x(t int64) float64 {
	n := len(s.instants)
	switch i := sort.Search(n, func(i int) bool { return s.instants[i] >= t }); {
	case i == n:
		return swimRight
	case s.instants[i] == t:
		return s.places[i]
	case i == 0:
		return swimLeft
	default:
		share := float64(t-s.instants[i-1]) / float64(s.instants[i]-s.instants[i-1])
		return s.places[i-1] + share*(s.places[i]-s.places[i-1])
	}
}

// clientsOf are the steps' clients by their first appearance, then those of the context while there is room.
func clientsOf(all, context []step) []string {
	var clients []string
	for _, one := range slices.Concat(all, context) {
		if one.Class == "fault" || one.Class == "sample" || one.Client == "" || slices.Contains(clients, one.Client) {
			continue
		}
		if clients = append(clients, one.Client); len(clients) == mostClients {
			break
		}
	}
	return clients
}

// nodesOf are the run's nodes, those of the steps among them for certain.
func nodesOf(all []step, nodes []string) []string {
	var out []string
	for _, one := range all {
		if one.Node != "" && !slices.Contains(out, one.Node) {
			out = append(out, one.Node)
		}
	}
	for _, node := range nodes {
		if !slices.Contains(out, node) {
			out = append(out, node)
		}
	}
	out = out[:min(len(out), mostNodes)]
	slices.Sort(out)
	return out
}

// placed is where a step's label stands: a row above its bar, 0 the lowest.
type placed struct {
	x   float64
	row int
}

// layLabels places labels so that none covers another, and returns the height of each client's lane.
func (s *swim) layLabels(all []step, clients []string) ([]placed, []float64) {
	labels := make([]placed, len(all))
	taken := make(map[string][]float64) // client to the x at which each row is free again
	for i, one := range all {
		x := s.x(one.From)
		width := textWidth(one.Short, 11) + 24
		x = min(x, swimRight-width)
		rows := taken[one.Client]
		row := 0
		for row < len(rows) && rows[row] > x {
			row++
		}
		if row == len(rows) {
			rows = append(rows, 0)
		}
		rows[row] = x + width
		taken[one.Client] = rows
		labels[i] = placed{x, row}
	}
	heights := make([]float64, len(clients))
	for i, client := range clients {
		heights[i] = 24 + labelHeight*float64(len(taken[client]))
	}
	return labels, heights
}

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
