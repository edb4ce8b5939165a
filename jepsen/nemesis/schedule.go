package nemesis

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Span is a length of time, written as in 1.5s.
type Span time.Duration

// MarshalText writes it so.
func (s Span) MarshalText() ([]byte, error) { return []byte(time.Duration(s).String()), nil }

// UnmarshalText reads what MarshalText writes.
func (s *Span) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	*s = Span(d)
	return err
}

// Schedule is all that a run will do to a cluster, as far as it can be known before. Entries do not depend on each other: a
// schedule of some of them means for each the same as the whole.
type Schedule struct {
	Seed     uint64     `json:"seed"`
	Nodes    int        `json:"nodes"`
	Duration Span       `json:"duration"`
	Entries  []Entry    `json:"entries"` // by At
	Omitted  []Omission `json:"omitted,omitempty"`
}

// Omission is a kind that was asked for and cannot be had here.
type Omission struct {
	Kind   string `json:"kind"`
	Reason string `json:"reason"`
}

// Entry is one fault to come. Everything about it that does not depend on the run is decided here.
type Entry struct {
	Index int    `json:"index"` // of the entry, for good: reduction does not change it
	Name  string `json:"name"`  // the fault's in the history
	Kind  string `json:"kind"`
	At    Span   `json:"at"`
	For   Span   `json:"for"`
	Pair  string `json:"pair,omitempty"` // shared by two that start together
	Choice
}

// Choice is what is drawn for an entry. Only what its kind makes use of is set.
type Choice struct {
	// Order is of all nodes by number, from 0. Who needs one node takes the first, who needs some the first ones.
	Order []int `json:"order"`
	// Seed is of what is drawn while the fault lasts.
	Seed    uint64    `json:"seed"`
	Leader  bool      `json:"leader,omitempty"` // strike whoever leads then, not the first in Order
	Inward  bool      `json:"inward,omitempty"` // what comes in is lost, not what goes out
	Wide    bool      `json:"wide,omitempty"`   // all links or nodes, not those of one
	Delay   Span      `json:"delay,omitempty"`
	Jitter  Span      `json:"jitter,omitempty"`
	Loss    float64   `json:"loss,omitempty"`
	Offset  Span      `json:"offset,omitempty"` // of a clock
	Rates   []float64 `json:"rates,omitempty"`  // of clocks, one a node
	Damage  Damage    `json:"damage,omitempty"`
	Factor  int       `json:"factor,omitempty"` // of load
	Writing bool      `json:"writing,omitempty"`
}

// Keep returns the schedule with those entries alone whose indexes are given.
func (s Schedule) Keep(indexes ...int) Schedule {
	return s.filter(func(e Entry) bool { return slices.Contains(indexes, e.Index) })
}

// Without returns the schedule without the entries whose indexes are given.
func (s Schedule) Without(indexes ...int) Schedule {
	return s.filter(func(e Entry) bool { return !slices.Contains(indexes, e.Index) })
}

func (s Schedule) filter(keep func(Entry) bool) Schedule {
	kept := make([]Entry, 0, len(s.Entries))
	for _, e := range s.Entries {
		if keep(e) {
			kept = append(kept, e)
		}
	}
	s.Entries = kept
	return s
}

// Write writes the schedule as JSON for people and for ReadSchedule.
func (s Schedule) Write(out io.Writer) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("write schedule: %w", err)
	}
	_, err = out.Write(append(text, '\n'))
	return err
}

// ReadSchedule reads what Write wrote and checks that it can be run.
func ReadSchedule(in io.Reader) (Schedule, error) {
	var s Schedule
	decoder := json.NewDecoder(in)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&s); err != nil {
		return Schedule{}, fmt.Errorf("read schedule: %w", err)
	}
	return s, s.Validate()
}

// Validate says what makes the schedule one that cannot be run.
func (s Schedule) Validate() error {
	names := make(map[string]bool)
	kinds := make(map[string]bool)
	for _, k := range Kinds() {
		kinds[k.Name] = true
	}
	for _, e := range s.Entries {
		if !kinds[e.Kind] {
			return fmt.Errorf("schedule entry %d: no fault is called %q", e.Index, e.Kind)
		}
		if e.Name == "" || names[e.Name] {
			return fmt.Errorf("schedule entry %d: its name %q is empty or that of another", e.Index, e.Name)
		}
		names[e.Name] = true
		if e.At < 0 || e.For <= 0 {
			return fmt.Errorf("schedule entry %d: begins at %s and lasts %s", e.Index, time.Duration(e.At), time.Duration(e.For))
		}
		for i, n := range slices.Sorted(slices.Values(e.Order)) {
			if i != n || len(e.Order) != s.Nodes {
				return fmt.Errorf("schedule entry %d: its order is not one of %d nodes", e.Index, s.Nodes)
			}
		}
		if len(e.Order) == 0 {
			return fmt.Errorf("schedule entry %d: no order of nodes", e.Index)
		}
	}
	return nil
}

// String prints the schedule, an entry a line.
func (s Schedule) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "seed %d, %d nodes, %s, %d faults\n", s.Seed, s.Nodes, time.Duration(s.Duration), len(s.Entries))
	for _, e := range s.Entries {
		fmt.Fprintf(&text, "%8s for %7s  %s%s\n", time.Duration(e.At).Round(time.Millisecond), time.Duration(e.For).Round(time.Millisecond), e.Name, e.words())
	}
	for _, l := range s.Omitted {
		fmt.Fprintf(&text, "without %s: %s\n", l.Kind, l.Reason)
	}
	return text.String()
}

// words tells the choices of an entry.
func (e Entry) words() string {
	first := fmt.Sprintf("nodes by number %v", e.Order)
	if e.Leader {
		first = "whoever leads"
	}
	words := []string{first}
	say := func(is bool, format string, args ...any) {
		if is {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	say(e.Inward, "inward")
	say(e.Wide, "everywhere")
	say(e.Delay != 0, "%s late", time.Duration(e.Delay))
	say(e.Jitter != 0, "give or take %s", time.Duration(e.Jitter))
	say(e.Loss != 0, "%.0f %% lost", 100*e.Loss)
	say(e.Offset != 0, "off by %s", time.Duration(e.Offset))
	say(len(e.Rates) > 0, "rates %.2v", e.Rates)
	say(e.Damage != "", "%s", e.Damage)
	say(e.Factor != 0, "times %d", e.Factor)
	say(e.Writing, "writes")
	say(e.Pair != "", "pair %s", e.Pair)
	return " (" + strings.Join(words, ", ") + ")"
}
