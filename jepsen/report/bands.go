package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/leasehold/leasehold/jepsen/history"
)

// families are the colours, in the order of lanes and legend.
var families = [...]string{"kill", "pause", "partition", "packet", "disk", "clock", "member", "load"}

// family returns the name of a colour that exists.
func family(name string) string {
	if slices.Contains(families[:], name) {
		return name
	}
	return "other"
}

func familyRank(name string) int {
	if i := slices.Index(families[:], name); i >= 0 {
		return i
	}
	return len(families)
}

const (
	mostLanes  = 18
	laneHeight = 13
)

// lane is a row of faults that do not overlap.
type lane struct {
	label   string
	family  string
	windows []*history.Window
}

// lanes puts windows into rows: one for each kind, and more where faults of a kind overlap. If that makes too many rows,
// there is one for each family. end is the time up to which a fault lasts that was never stopped.
func lanes(windows []history.Window, end int64) []lane {
	rows := lanesBy(windows, end, func(w *history.Window) string { return w.Kind }, 3)
	if len(rows) > mostLanes {
		rows = lanesBy(windows, end, func(w *history.Window) string { return family(w.Family) }, 2)
	}
	return rows
}

// lanesBy makes at most depth rows of each label; what overlaps even then is drawn over what is there.
func lanesBy(windows []history.Window, end int64, label func(*history.Window) string, depth int) []lane {
	sorted := make([]*history.Window, len(windows))
	for i := range windows {
		sorted[i] = &windows[i]
	}
	slices.SortStableFunc(sorted, func(a, b *history.Window) int {
		return cmp.Or(cmp.Compare(familyRank(family(a.Family)), familyRank(family(b.Family))), cmp.Compare(label(a), label(b)), cmp.Compare(a.Start, b.Start))
	})
	var rows []lane
	first := 0 // row of the current label
	count := make(map[string]int)
	for _, w := range sorted {
		count[label(w)]++
		if len(rows) == 0 || rows[first].label != label(w) {
			first = len(rows)
			rows = append(rows, lane{label: label(w), family: family(w.Family), windows: []*history.Window{w}})
			continue
		}
		row := first
		for row < len(rows) && stops(rows[row].windows[len(rows[row].windows)-1], end) > w.Start {
			row++
		}
		switch {
		case row < len(rows):
			rows[row].windows = append(rows[row].windows, w)
		case len(rows)-first < depth:
			rows = append(rows, lane{label: label(w), family: family(w.Family), windows: []*history.Window{w}})
		default:
			rows[len(rows)-1].windows = append(rows[len(rows)-1].windows, w)
		}
	}
	for i := range rows {
		if i > 0 && strings.HasPrefix(rows[i-1].label, rows[i].label) && rows[i-1].family == rows[i].family {
			continue // its label is the row's above
		}
		if n := count[rows[i].label]; n > 1 {
			rows[i].label = fmt.Sprintf("%s ×%d", rows[i].label, n)
		}
	}
	for i := len(rows) - 1; i > 0; i-- {
		if bare, _, _ := strings.Cut(rows[i-1].label, " ×"); bare == rows[i].label {
			rows[i].label = ""
		}
	}
	return rows
}

// stops is when a fault ended, or end if it never did.
func stops(w *history.Window, end int64) int64 { return min(max(w.Stop, w.Start), max(end, w.Start)) }

// felt says whether anything shows that a fault was felt.
func felt(w *history.Window) bool { return w.Effect != "" && w.Error == "" }

// tell is a fault in one sentence.
func tell(w *history.Window, end int64) string {
	s := w.Name
	if len(w.Nodes) > 0 {
		s += " at " + strings.Join(w.Nodes, ", ")
	}
	if w.Stop == history.Never {
		s += fmt.Sprintf(", from %s on", at(w.Start))
	} else {
		s += fmt.Sprintf(", from %s to %s (%s)", at(w.Start), at(w.Stop), span(stops(w, end)-w.Start))
	}
	switch {
	case w.Error != "":
		s += "; could not be done: " + w.Error
	case w.Effect != "":
		s += "; felt: " + w.Effect
	default:
		s += "; nothing shows that it was felt"
	}
	return s
}

// drawLanes draws rows of faults, the first of them at y, and returns the y below the last. x maps time to place.
func (c *canvas) drawLanes(rows []lane, y float64, left, right float64, end int64, x func(int64) float64) float64 {
	many := 0
	for _, row := range rows {
		many += len(row.windows)
	}
	for _, row := range rows {
		c.put(`<text class="small end soft" x="%v" y="%v">%v</text>`, left-8, y+9, fit(row.label, 10, left-16))
		for _, r := range merge(row.windows, left, right, end, x, many > 400) {
			class := "band"
			if !r.felt {
				class = "band unfelt"
			}
			if many > 400 {
				c.put(`<rect class="%v f-%v" x="%v" y="%v" width="%v" height="10"/>`, class, row.family, r.from, y, r.to-r.from)
				continue
			}
			c.put(`<g><title>%v</title><rect class="%v f-%v" x="%v" y="%v" width="%v" height="10" rx="1.5"/>`, r.tell, class, row.family, r.from, y, r.to-r.from)
			if name := r.label(); name != "" {
				c.put(`<text class="small" x="%v" y="%v">%v</text>`, r.from+3, y+8.5, name)
			}
			c.put(`</g>`)
		}
		y += laneHeight
	}
	return y
}

// drawTints draws the same faults behind a plot, from one y to another: once for each family, however many overlap, so
// that they do not hide what is before them.
func (c *canvas) drawTints(rows []lane, from, to, left, right float64, end int64, x func(int64) float64) {
	class, many, apart := "tint", 0, 0.5
	together := make(map[string][]*history.Window)
	for _, row := range rows {
		many += len(row.windows)
		together[row.family] = append(together[row.family], row.windows...)
	}
	if many > 100 {
		class, apart = "tint faint", 4
	}
	for _, name := range append(families[:], "other") {
		windows := together[name]
		slices.SortFunc(windows, func(a, b *history.Window) int { return cmp.Compare(a.Start, b.Start) })
		for i := 0; i < len(windows); {
			begin, stop := x(windows[i].Start), x(stops(windows[i], end))
			for i++; i < len(windows) && x(windows[i].Start) <= stop+apart; i++ {
				stop = max(stop, x(stops(windows[i], end)))
			}
			if begin, stop = max(begin, left), min(max(stop, begin+1.5), right); begin < stop {
				c.put(`<rect class="%v f-%v" x="%v" y="%v" width="%v" height="%v"/>`, class, name, begin, from, stop-begin, to-from)
			}
		}
	}
}

// stretch is one fault, or several too close to be told apart, in pixels.
type stretch struct {
	from, to float64
	names    []string
	tell     string
	felt     bool
}

// label is the fault's name, or its number alone, whichever fits.
func (r stretch) label() string {
	room := r.to - r.from - 5
	if len(r.names) != 1 {
		if many := fmt.Sprintf("%d×", len(r.names)); textWidth(many, 10) <= room {
			return many
		}
		return ""
	}
	name := r.names[0]
	if textWidth(name, 10) <= room {
		return name
	}
	if i := strings.LastIndexByte(name, '-'); i >= 0 && textWidth(name[i+1:], 10) <= room {
		return name[i+1:]
	}
	return ""
}

// merge turns a row's faults into pixels. Those closer than a pixel or two become one, so that a row is bounded.
func merge(windows []*history.Window, left, right float64, end int64, x func(int64) float64, coarse bool) []stretch {
	narrow := 1.5
	if coarse {
		narrow = 3
	}
	var out []stretch
	for _, w := range windows {
		from, to := max(x(w.Start), left), min(x(stops(w, end)), right)
		if from > right || to < left {
			continue
		}
		to = max(to, from+narrow)
		if last := len(out) - 1; last >= 0 && from < out[last].from+narrow && from <= out[last].to+0.5 {
			out[last].to = max(out[last].to, to)
			out[last].names = append(out[last].names, w.Name)
			out[last].felt = out[last].felt || felt(w)
			out[last].tell = fmt.Sprintf("%d faults, the first: %s", len(out[last].names), strings.TrimPrefix(out[last].tell, fmt.Sprintf("%d faults, the first: ", len(out[last].names)-1)))
			continue
		}
		out = append(out, stretch{from: from, to: to, names: []string{w.Name}, tell: tell(w, end), felt: felt(w)})
	}
	return out
}
