package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/leasehold/leasehold/jepsen/history"
)

// at writes a time of the history, in nanoseconds since it began.
func at(t int64) string {
	if t == history.Never {
		return "never"
	}
	return strconv.FormatFloat(float64(t)/1e9, 'f', 3, 64) + " s"
}

// span writes a duration in nanoseconds as a person would say it.
func span(d int64) string {
	switch s := float64(d) / 1e9; {
	case d < 1_000_000:
		return strconv.FormatFloat(s*1e3, 'f', 2, 64) + " ms"
	case d < 10_000_000:
		return strconv.FormatFloat(s*1e3, 'f', 1, 64) + " ms"
	case d < 1_000_000_000:
		return strconv.FormatFloat(s*1e3, 'f', 0, 64) + " ms"
	case d < 100_000_000_000:
		return strconv.FormatFloat(s, 'f', 2, 64) + " s"
	case d < 7_200_000_000_000:
		return fmt.Sprintf("%d min %d s", d/60e9, d%60e9/1e9)
	case d < 172_800_000_000_000:
		return fmt.Sprintf("%d h %d min", d/3600e9, d%3600e9/60e9)
	default:
		return fmt.Sprintf("%.1f days", s/86400)
	}
}

// grouped writes a number with commas between its thousands.
func grouped(n int) string {
	digits := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// plural is 1 fault, 2 faults.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return grouped(n) + " " + noun + "s"
}

// writes says whether an operation means to change something.
func writes(f string) bool {
	switch f {
	case history.Create, history.Update, history.Put, history.Patch, history.Delete:
		return true
	default:
		return false
	}
}

// served says whether an operation got an answer that a healthy server gives: what it asked for, or a definite refusal
// that follows from the state, such as a conflict.
func served(op *history.Operation) bool {
	if op.Outcome == history.OK {
		return true
	}
	return op.Outcome == history.Fail && op.Answer != nil && op.Answer.Code >= 400 && op.Answer.Code < 500 && op.Answer.Code != 429
}

// asked tells what a request asks for.
func asked(f string, r *history.Request) string {
	where := r.Key
	if where == "" || where == "/" {
		where = "all namespaces"
	}
	var b strings.Builder
	switch f {
	case history.Create:
		b.WriteString("create " + where)
		if r.Generate {
			b.WriteString(" with a name made by the server")
		}
	case history.Update:
		b.WriteString("update " + where)
	case history.Put:
		b.WriteString("put " + where + " whatever is there")
	case history.Patch:
		b.WriteString("patch " + where)
	case history.Delete:
		b.WriteString("delete " + where)
	case history.Get:
		b.WriteString("read " + where)
	case history.List:
		b.WriteString("list " + where)
	case history.Watch:
		b.WriteString("watch " + where)
		if r.Revision != "" && r.Revision != "0" {
			b.WriteString(", everything after revision " + r.Revision)
		}
	default:
		b.WriteString(f + " " + where)
	}
	if writes(f) && r.Revision != "" {
		b.WriteString(", if still at revision " + r.Revision)
	}
	if f == history.Get || f == history.List {
		switch {
		case r.Match != "":
			b.WriteString(", " + r.Match + " " + r.Revision)
		case r.Revision == "0":
			b.WriteString(", however old")
		case r.Revision != "":
			b.WriteString(", at least as of revision " + r.Revision)
		}
	}
	if r.Listing != "" && r.Page > 0 {
		fmt.Fprintf(&b, " (page %d)", r.Page+1)
	}
	if r.Group != "" {
		b.WriteString(", group " + r.Group)
	}
	if r.Append != "" {
		b.WriteString(", append " + r.Append)
	}
	if r.Holder != "" {
		b.WriteString(", holder " + r.Holder)
	}
	return b.String()
}

// answered tells what came back.
func answered(outcome history.Type, a *history.Answer) string {
	var parts []string
	if a == nil {
		return "no answer: nobody can tell whether it took effect"
	}
	switch {
	case outcome == history.Info:
		parts = append(parts, "unknown: it may have taken effect or not")
	case outcome == history.Fail:
		parts = append(parts, "refused")
	}
	if a.Code != 0 {
		parts = append(parts, strconv.Itoa(a.Code))
	}
	if a.Reason != "" {
		parts = append(parts, a.Reason)
	}
	if a.Version != nil {
		parts = append(parts, held(a.Version))
	}
	if a.Revision != 0 {
		parts = append(parts, fmt.Sprintf("the list at revision %d with %s", a.Revision, plural(len(a.Items), "object")))
	}
	if a.Error != "" {
		parts = append(parts, a.Error)
	}
	if a.Malformed != "" {
		parts = append(parts, "malformed: "+a.Malformed)
	}
	return strings.Join(parts, ", ")
}

// held tells what somebody saw of an object.
func held(v *history.Version) string {
	s := fmt.Sprintf("revision %d", v.Revision)
	if v.ID != "" {
		s += ", written by " + v.ID
	}
	if v.Holder != "" {
		s += ", holder " + v.Holder
	}
	if len(v.Elements) > 0 {
		s += ", elements " + few(v.Elements, 12)
	}
	return s
}

// short is what fits beside a bar in a picture.
func short(f string, outcome history.Type, a *history.Answer) string {
	verb := f
	if f == history.Get {
		verb = "read"
	}
	switch {
	case a == nil, outcome == history.Info:
		return verb + " ?"
	case outcome == history.Fail && a.Code != 0:
		return fmt.Sprintf("%s refused %d", verb, a.Code)
	case outcome == history.Fail:
		return verb + " failed"
	case a.Version != nil && writes(f):
		return fmt.Sprintf("%s → %d", verb, a.Version.Revision)
	case a.Version != nil:
		return fmt.Sprintf("%s: %d", verb, a.Version.Revision)
	case a.Revision != 0:
		return fmt.Sprintf("%s: %d", verb, a.Revision)
	default:
		return verb
	}
}

// seen tells what a watch was sent.
func seen(c *history.Change) string {
	switch {
	case c.Version != nil:
		return c.Type + " " + c.Version.Key + ", " + held(c.Version)
	case c.Code != 0:
		return fmt.Sprintf("%s %d %s", c.Type, c.Code, c.Reason)
	default:
		return fmt.Sprintf("%s at revision %d", c.Type, c.Revision)
	}
}

// few joins the last n of many words.
func few(words []string, n int) string {
	if len(words) <= n {
		return strings.Join(words, " ")
	}
	return "… " + strings.Join(words[len(words)-n:], " ")
}

// clip cuts a text that is too long to be read.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + fmt.Sprintf(" … (%s more bytes)", grouped(len(s)-most))
}
