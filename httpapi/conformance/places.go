package conformance

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// placeParts are the parts of a place: names between dots, or anything in brackets.
var placeParts = regexp.MustCompile(`\[[^\]]*\]|[^.\[\]]+`)

// at returns what lies at a place in plain values, nil for nothing. A place is like items.0.metadata.name; brackets hold a
// name with dots, as in paths[/healthz], or choose from a list, as in groups[name=apps].
func at(value any, place string) any {
	for _, part := range placeParts.FindAllString(place, -1) {
		name, bracketed := strings.CutPrefix(part, "[")
		name = strings.TrimSuffix(name, "]")
		switch here := value.(type) {
		case map[string]any:
			value = here[name]
		case []any:
			value = entry(here, name, bracketed)
		default:
			return nil
		}
	}
	return value
}

// entry returns the entry of a list with that index, or, as KEY=VALUE, the first that has the value at the place KEY.
func entry(list []any, name string, choosing bool) any {
	if key, want, ok := strings.Cut(name, "="); ok && choosing {
		for _, item := range list {
			if fmt.Sprint(at(item, key)) == want {
				return item
			}
		}
		return nil
	}
	index, err := strconv.Atoi(name)
	if err != nil || index < 0 || index >= len(list) {
		return nil
	}
	return list[index]
}

// scope is what $(...) can stand for in one conversation.
type scope struct {
	names   map[string]string
	answers map[string]any // bodies, and the events of watches, by the ID of their step
}

var reference = regexp.MustCompile(`\$\(([^()]+)\)`)

// fill replaces $(name), $(step.place), $(step.place+1000) and $(repeat:text:times).
func (s *scope) fill(text string) (string, error) {
	var failed error
	for depth := 0; depth < 4 && reference.MatchString(text); depth++ { // names may refer to names
		text = reference.ReplaceAllStringFunc(text, func(found string) string {
			value, err := s.value(found[2 : len(found)-1])
			if err != nil && failed == nil {
				failed = err
			}
			return value
		})
	}
	return text, failed
}

func (s *scope) value(name string) (string, error) {
	if value, ok := s.names[name]; ok {
		return value, nil
	}
	if rest, ok := strings.CutPrefix(name, "repeat:"); ok {
		return repeated(rest)
	}
	place, add := name, int64(0)
	if sign := strings.LastIndexAny(name, "+-"); sign > 0 {
		if n, err := strconv.ParseInt(name[sign:], 10, 64); err == nil {
			place, add = name[:sign], n
		}
	}
	step, place, _ := strings.Cut(place, ".")
	value := at(s.answers[step], place)
	if value == nil {
		return "", fmt.Errorf("$(%s) stands for nothing", name)
	}
	text := fmt.Sprint(value)
	if add == 0 {
		return text, nil
	}
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return "", fmt.Errorf("$(%s): %w", name, err)
	}
	return strconv.FormatInt(number+add, 10), nil
}

// repeated is text:times written out. The text may hold colons.
func repeated(argument string) (string, error) {
	colon := strings.LastIndex(argument, ":")
	if colon < 0 {
		return "", fmt.Errorf("$(repeat:%s) does not say how often", argument)
	}
	times, err := strconv.Atoi(argument[colon+1:])
	if err != nil || times < 0 {
		return "", fmt.Errorf("$(repeat:%s) does not say how often", argument)
	}
	return strings.Repeat(argument[:colon], times), nil
}
