package report

import (
	"math"
	"slices"
	"sort"

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
		s.put(`<text class="strong end" x="%v" y="%v">%v</text>`, float64(swimLeft-10), s.clientY[client]+4, fit(clientName(client), 11, swimLeft-24))
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

// clientName makes a name of a process that is a number.
func clientName(process string) string {
	if process != "" && process[0] >= '0' && process[0] <= '9' {
		return "client " + process
	}
	return process
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
