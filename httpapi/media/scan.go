package media

import (
	"strings"
	"time"
)

// scanner walks over JSON of the ordinary kind. It gives up (ok becomes false) on everything else: escapes, characters
// beyond ASCII, fractions, nulls, and all that is wrong. Giving up is never an answer; the generic decoder then looks.
type scanner struct {
	text string
	at   int
	ok   bool
}

func (s *scanner) fail() { s.ok = false }

func (s *scanner) space() {
	for s.at < len(s.text) && isSpace(s.text[s.at]) {
		s.at++
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// take steps over c, with space around it, and says whether it was there.
func (s *scanner) take(c byte) bool {
	s.space()
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		s.space()
		return true
	}
	return false
}

func (s *scanner) expect(c byte) {
	if !s.take(c) {
		s.fail()
	}
}

// string reads a string without escapes.
func (s *scanner) string() string {
	if s.at >= len(s.text) || s.text[s.at] != '"' {
		s.fail()
		return ""
	}
	start := s.at + 1
	for i := start; i < len(s.text); i++ {
		c := s.text[i]
		if c == '"' {
			s.at = i + 1
			return s.text[start:i]
		}
		if c < 0x20 || c >= 0x7f || c == '\\' {
			break
		}
	}
	s.fail()
	return ""
}

// integer reads a whole number that fits into so many bits.
func (s *scanner) integer(bits int) int64 {
	negative := s.at < len(s.text) && s.text[s.at] == '-'
	if negative {
		s.at++
	}
	start := s.at
	var value int64
	for s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9' {
		value = value*10 + int64(s.text[s.at]-'0')
		s.at++
	}
	digits := s.at - start
	// 18 digits cannot overflow; a leading zero is no number; a fraction or exponent is for others to judge.
	if digits == 0 || digits > 18 || digits > 1 && s.text[start] == '0' || bits == 32 && value > 1<<31-1 {
		s.fail()
		return 0
	}
	if s.at < len(s.text) && strings.IndexByte(".eE", s.text[s.at]) >= 0 {
		s.fail()
	}
	if negative {
		return -value
	}
	return value
}

func (s *scanner) bool() bool {
	switch rest := s.text[s.at:]; {
	case strings.HasPrefix(rest, "true"):
		s.at += len("true")
		return true
	case strings.HasPrefix(rest, "false"):
		s.at += len("false")
	default:
		s.fail()
	}
	return false
}

// fields reads an object whose fields are read by field, which is told each name. No name may come twice; field has to
// return a different small number for each, which it knows by the name, and the scanner keeps the account.
func (s *scanner) fields(field func(name string) int) {
	s.expect('{')
	if !s.ok || s.take('}') {
		return
	}
	var seen uint64
	for s.ok {
		name := s.string()
		s.expect(':')
		if !s.ok {
			return
		}
		bit := uint64(1) << field(name)
		if seen&bit != 0 {
			s.fail()
		}
		seen |= bit
		if s.take('}') {
			return
		}
		s.expect(',')
	}
}

// elements reads an array.
func (s *scanner) elements(element func()) {
	s.expect('[')
	if !s.ok || s.take(']') {
		return
	}
	for s.ok {
		element()
		if s.take(']') {
			return
		}
		s.expect(',')
	}
}

// strings reads an object of strings.
func (s *scanner) strings() map[string]string {
	values := map[string]string{}
	s.expect('{')
	if !s.ok || s.take('}') {
		return values
	}
	for s.ok {
		name := s.string()
		s.expect(':')
		if !s.ok {
			break
		}
		if _, twice := values[name]; twice {
			s.fail()
		}
		values[name] = s.string()
		if s.take('}') {
			break
		}
		s.expect(',')
	}
	return values
}

// moment reads a time in UTC with so many digits of fraction (0 or 6), as servers and clients of Kubernetes write them.
func (s *scanner) moment(fraction int) time.Time {
	text := s.string()
	length := len("2006-01-02T15:04:05Z")
	if fraction > 0 {
		length += 1 + fraction
	}
	if len(text) != length || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':' ||
		text[length-1] != 'Z' || fraction > 0 && text[19] != '.' {
		s.fail()
		return time.Time{}
	}
	number := func(from, to int) int {
		value := 0
		for _, c := range []byte(text[from:to]) {
			if c < '0' || c > '9' {
				s.fail()
			}
			value = value*10 + int(c-'0')
		}
		return value
	}
	year, month, day := number(0, 4), number(5, 7), number(8, 10)
	hour, minute, second := number(11, 13), number(14, 16), number(17, 19)
	nanos := 0
	if fraction > 0 {
		nanos = number(20, 26) * 1000
	}
	// The 29th to 31st exist in some months only: a calendar decides that.
	if month < 1 || month > 12 || day < 1 || day > 28 && day > daysIn(year, month) || hour > 23 || minute > 59 || second > 59 {
		s.fail()
		return time.Time{}
	}
	return time.Date(year, time.Month(month), day, hour, minute, second, nanos, time.UTC).Local()
}

func daysIn(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// scanFields returns where the set of fields ends that begins at text[at], in the form of managedFields: objects within
// objects, all of them with names of plain ASCII. It returns -1 if it is anything else. Space is allowed if spaces is true.
func scanFields[T string | []byte](text T, at int, spaces bool) int {
	const depthLimit = 100
	space := func() {
		for spaces && at < len(text) && isSpace(text[at]) {
			at++
		}
	}
	depth := 0
	for at < len(text) && text[at] == '{' && depth < depthLimit {
		depth++
		at++
		space()
		if at < len(text) && text[at] == '}' {
			// Close this object and all that end with it, up to a comma.
			for at < len(text) && text[at] == '}' {
				at++
				if depth--; depth == 0 {
					return at
				}
				space()
			}
			if at >= len(text) || text[at] != ',' {
				return -1
			}
			at++
			space()
		}
		if at = scanName(text, at); at < 0 {
			return -1
		}
		space()
		if at >= len(text) || text[at] != ':' {
			return -1
		}
		at++
		space()
	}
	return -1
}

// scanName returns where the string ends that begins at text[at], or -1. The only escapes it takes are those of a quote
// and of a backslash: they occur in names that hold a value.
func scanName[T string | []byte](text T, at int) int {
	if at >= len(text) || text[at] != '"' {
		return -1
	}
	for at++; at < len(text); at++ {
		switch c := text[at]; {
		case c == '"':
			return at + 1
		case c == '\\':
			at++
			if at >= len(text) || text[at] != '"' && text[at] != '\\' {
				return -1
			}
		case !plain(c):
			return -1
		}
	}
	return -1
}
