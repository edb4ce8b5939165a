package httpapi

import (
	"strings"
	"unicode/utf8"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// What warnings may add to an answer's header, in runes: a body can give cause for as many and as long ones as it likes.
const (
	maxWarnings = 4096 // of all of them; if they are more,
	maxWarning  = 256  // of each, and no further ones once there are enough
)

// warningCode means that a warning stays true whoever passes the answer on.
const warningCode = 299

// warningHeaders are the values of the Warning headers that tell of warnings: as in kube-apiserver each text once, none
// that a header cannot hold, and shortened only where they are too much altogether.
func warningHeaders(warnings []string) []string {
	told := warningRecorder{known: make(map[string]bool)}
	for _, warning := range warnings {
		for _, line := range warningLines(warning) {
			told.add(line)
		}
	}
	return told.headers
}

// warningLines takes apart what YAML's decoder says of several lines at once.
func warningLines(warning string) []string {
	for _, prefix := range []string{"yaml: unmarshal errors:\n", "error converting YAML to JSON: yaml: unmarshal errors:\n"} {
		if rest, ok := strings.CutPrefix(warning, prefix); ok {
			lines := strings.Split(rest, "\n")
			for i, line := range lines {
				lines[i] = strings.TrimSpace(line)
			}
			return lines
		}
	}
	return []string{warning}
}

// warningRecorder gathers warnings one by one.
type warningRecorder struct {
	headers []string
	texts   []string // as they were added
	known   map[string]bool
	runes   int  // of what is in the headers
	full    bool // they are shortened from here on
}

func (r *warningRecorder) add(text string) {
	if text == "" || r.known[text] || r.full && r.runes >= maxWarnings {
		return
	}
	r.known[text] = true
	r.texts = append(r.texts, text)
	if !r.full && r.runes+utf8.RuneCountInString(text) > maxWarnings {
		r.full, r.runes, r.headers = true, 0, nil
		for _, earlier := range r.texts {
			r.write(earlier)
		}
		return
	}
	r.write(text)
}

func (r *warningRecorder) write(text string) {
	if r.full {
		text = firstRunes(text, maxWarning)
	}
	header, err := utilnet.NewWarningHeader(warningCode, "-", text)
	if err != nil {
		return // of control characters, or no UTF-8
	}
	r.headers = append(r.headers, header)
	r.runes += utf8.RuneCountInString(text)
}

func firstRunes(text string, count int) string {
	for at := range text {
		if count == 0 {
			return text[:at]
		}
		count--
	}
	return text
}
