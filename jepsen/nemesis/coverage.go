package nemesis

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/leasehold/leasehold/jepsen/history"
)

// Count is how often faults of one kind were done.
type Count struct {
	Struck int `json:"struck"`
	Felt   int `json:"felt"`
	Failed int `json:"failed,omitempty"` // could not be done
	Open   int `json:"open,omitempty"`   // never stopped
}

// Coverage is what faults did to a cluster in a run.
type Coverage struct {
	Kinds     map[string]Count `json:"kinds"`
	Faults    Count            `json:"faults"`
	Elections int              `json:"elections"` // terms in which a node was seen to lead, but the first
	Term      uint64           `json:"term"`      // the last one seen
	// Overlaps counts how often two kinds were in force at once, by their names with a + between.
	Overlaps map[string]int `json:"overlaps,omitempty"`
	// AtOnce is the most faults in force at once.
	AtOnce int `json:"atOnce"`
}

// Cover counts the faults of a history.
func Cover(h *history.History) Coverage {
	c := Coverage{Kinds: make(map[string]Count), Overlaps: make(map[string]int)}
	for i, w := range h.Windows {
		one := Count{Struck: 1}
		switch {
		case w.Stop == history.Never:
			one.Open = 1
		case w.Effect != "":
			one.Felt = 1
		case w.Error != "":
			one.Failed = 1
		}
		c.Kinds[w.Kind] = c.Kinds[w.Kind].plus(one)
		c.Faults = c.Faults.plus(one)
		atOnce := 1
		for _, other := range h.Windows[:i] {
			if other.Stop > w.Start {
				atOnce++
				c.Overlaps[strings.Join(slices.Sorted(slices.Values([]string{w.Kind, other.Kind})), "+")]++
			}
		}
		c.AtOnce = max(c.AtOnce, atOnce)
	}
	terms := make(map[uint64]bool)
	for _, e := range h.Samples {
		if e.Sample == nil {
			continue
		}
		c.Term = max(c.Term, e.Sample.Term)
		if e.Sample.Role == leading {
			terms[e.Sample.Term] = true
		}
	}
	c.Elections = max(0, len(terms)-1)
	return c
}

func (c Count) plus(d Count) Count {
	return Count{c.Struck + d.Struck, c.Felt + d.Felt, c.Failed + d.Failed, c.Open + d.Open}
}

// Unfelt are the kinds that were done and never felt.
func (c Coverage) Unfelt() []string {
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(c.Kinds)) {
		if c.Kinds[kind].Felt == 0 {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// String tells it in one line.
func (c Coverage) String() string {
	text := fmt.Sprintf("%d faults of %d kinds, %d felt, at most %d at once, %d elections", c.Faults.Struck, len(c.Kinds), c.Faults.Felt, c.AtOnce, c.Elections)
	if unfelt := c.Unfelt(); len(unfelt) > 0 {
		text += "; never felt: " + strings.Join(unfelt, ", ")
	}
	return text
}
