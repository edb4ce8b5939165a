package conformance

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Difference is one thing that was not as wanted.
type Difference struct {
	Case    string // ID
	Step    int
	Request string
	Place   string // such as status, headers.Allow or body.metadata.name; error if the case could not go on
	Want    string // as JSON, or absent
	Got     string
}

const absent = "absent"

func (d Difference) String() string {
	if d.Place == "error" {
		return fmt.Sprintf("%s: %s", d.Case, d.Got)
	}
	return fmt.Sprintf("%s: step %d (%s): %s: want %s, got %s", d.Case, d.Step, d.Request, d.Place, shortened(d.Want), shortened(d.Got))
}

// compareAnswers returns the differences between what was wanted and what came, without the soft ones. An answer of
// another status is another answer, whatever it holds.
func compareAnswers(want, got Answer) []Difference {
	c := comparison{Difference{Step: want.Step, Request: want.Request}, nil}
	if want.Step != got.Step {
		c.differ("step", jsonOf(want.Step), jsonOf(got.Step))
		return c.found
	}
	if want.Status != got.Status {
		c.differ("status", jsonOf(want.Status), jsonOf(got.Status))
		return c.found
	}
	c.compare("headers", plainMap(want.Headers), plainMap(got.Headers))
	c.compare("body", want.Body, got.Body)
	c.compare("events", plainList(want.Events), plainList(got.Events))
	c.compare("closed", want.Closed, got.Closed)
	return c.found
}

// compareSoft compares sentences and lesser headers: all that either side has.
func compareSoft(want, got Answer) (messages, headers Score) {
	all := maps.Clone(want.Soft)
	if all == nil {
		all = make(map[string]string)
	}
	maps.Copy(all, got.Soft)
	for _, key := range sortedKeys(all) {
		score := &messages
		if strings.HasPrefix(key, "header ") {
			score = &headers
		}
		score.Total++
		if want.Soft[key] == got.Soft[key] {
			score.Equal++
			continue
		}
		d := Difference{Step: want.Step, Request: want.Request, Place: key, Want: cmp.Or(want.Soft[key], absent), Got: cmp.Or(got.Soft[key], absent)}
		if said, ok := got.sentences[key]; ok {
			d.Got += " for " + jsonOf(said)
		}
		score.Differences = append(score.Differences, d)
	}
	return messages, headers
}

// Score counts soft comparisons.
type Score struct {
	Equal, Total int
	Differences  []Difference
}

func (s *Score) add(more Score) {
	s.Equal += more.Equal
	s.Total += more.Total
	s.Differences = append(s.Differences, more.Differences...)
}

type comparison struct {
	about Difference
	found []Difference
}

func (c *comparison) differ(place, want, got string) {
	d := c.about
	d.Place, d.Want, d.Got = place, want, got
	c.found = append(c.found, d)
}

// compare walks through plain values side by side.
func (c *comparison) compare(place string, want, got any) {
	switch wanted := want.(type) {
	case map[string]any:
		if given, ok := got.(map[string]any); ok {
			c.compareObjects(place, wanted, given)
			return
		}
	case []any:
		if given, ok := got.([]any); ok && len(wanted) == len(given) {
			for i := range wanted {
				c.compare(fmt.Sprintf("%s.%d", place, i), wanted[i], given[i])
			}
			return
		}
	}
	if w, g := jsonOf(want), jsonOf(got); w != g {
		c.differ(place, w, g)
	}
}

func (c *comparison) compareObjects(place string, want, got map[string]any) {
	all := maps.Clone(want)
	maps.Copy(all, got)
	for _, name := range sortedKeys(all) {
		inner := place + "." + name
		wanted, isWanted := want[name]
		given, isGiven := got[name]
		switch {
		case !isGiven:
			c.differ(inner, jsonOf(wanted), absent)
		case !isWanted:
			c.differ(inner, absent, jsonOf(given))
		default:
			c.compare(inner, wanted, given)
		}
	}
}

func jsonOf(value any) string {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(text.String(), "\n")
}

// shortened keeps a line readable.
func shortened(text string) string {
	const most = 300
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return text
}

// plainMap and plainList make none and empty the same.
func plainMap(values map[string]string) map[string]any {
	out := make(map[string]any)
	for key, value := range values {
		out[key] = value
	}
	return out
}

func plainList(values []any) []any { return append([]any{}, values...) }

// copied is a copy of plain values that may be changed.
func copied(value any) any {
	switch here := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(here))
		for name, inner := range here {
			out[name] = copied(inner)
		}
		return out
	case []any:
		out := make([]any, len(here))
		for i, inner := range here {
			out[i] = copied(inner)
		}
		return out
	}
	return value
}

func sortedKeys[V any](values map[string]V) []string { return slices.Sorted(maps.Keys(values)) }
