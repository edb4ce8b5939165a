package report

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/leasehold/leasehold/jepsen/check"
	"github.com/leasehold/leasehold/jepsen/history"
)

// step is one thing that happened, as the page and its picture tell it.
type step struct {
	Number   int   // in the order of time, from 1; 0 for what only gives context
	Line     int64 // of history.jsonl
	From, To int64 // To is history.Never if it has no end on record
	Client   string
	Node     string
	What     string
	Answer   string
	Short    string
	Class    string // read, write, event, stream, sample, tenure
	Outcome  history.Type
	Decisive bool
}

// distance is how far from a time a step began.
func (s step) distance(t int64) int64 { return max(s.From-t, t-s.From) }

const (
	mostAround  = 12 // told of a finding that names no lines
	mostSteps   = 40 // told of one finding
	mostContext = 30 // operations shown beside them
	mostRaw     = 60 // lines of the history quoted
	longestRaw  = 4000
)

// steps turns the lines of a finding into what happened, in the order of time.
func steps(h *history.History, f *check.Finding, raw map[int64]history.Event) []step {
	wanted := make(map[int64]bool)
	for i, line := range f.Lines {
		if i == mostSteps {
			break
		}
		wanted[line] = true
	}
	found := make(map[int64]step)
	for line, s := range find(h, func(line int64) bool { return wanted[line] }) {
		found[line] = s
	}
	for line := range wanted {
		e, quoted := raw[line]
		if _, known := found[line]; known || !quoted {
			continue
		}
		if s, ok := completed(h, e); ok {
			s.Decisive = line == f.Lines[0]
			found[s.Line] = s
		}
	}
	var all []step
	for _, s := range found {
		s.Decisive = s.Decisive || s.Line == f.Lines[0]
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b step) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Line, b.Line)) })
	for i := range all {
		all[i].Number = i + 1
	}
	return all
}

// find returns what the wanted lines tell.
func find(h *history.History, wanted func(int64) bool) map[int64]step {
	found := make(map[int64]step)
	for i := range h.Operations {
		if wanted(h.Operations[i].Index) {
			found[h.Operations[i].Index] = operationStep(&h.Operations[i])
		}
	}
	for i := range h.Streams {
		s := &h.Streams[i]
		if wanted(s.Index) {
			found[s.Index] = step{Line: s.Index, From: s.Invoked, To: s.Ended, Client: s.Process, Node: s.Node, What: asked(history.Watch, s.Request),
				Answer: streamed(s), Short: "watch", Class: "stream", Outcome: s.Outcome}
		}
		for j := range s.Changes {
			if c := &s.Changes[j]; wanted(c.Index) {
				found[c.Index] = step{Line: c.Index, From: c.Time, To: c.Time, Client: s.Process, Node: s.Node, What: "its watch is sent " + seen(c.Change),
					Short: eventLabel(c.Change), Class: "event", Outcome: history.Seen}
			}
		}
	}
	for i := range h.Samples {
		if e := &h.Samples[i]; wanted(e.Index) && e.Sample != nil {
			found[e.Index] = step{Line: e.Index, From: e.Time, To: e.Time, Client: e.Process, Node: e.Node, What: "says of itself: " + sampled(e.Sample), Short: "says",
				Class: "sample", Outcome: history.Probe}
		}
	}
	for i := range h.Tenures {
		if e := &h.Tenures[i]; wanted(e.Index) && e.Tenure != nil {
			found[e.Index] = tenureStep(h, i)
		}
	}
	for i := range h.Windows {
		if w := &h.Windows[i]; wanted(w.Index) {
			found[w.Index] = step{Line: w.Index, From: w.Start, To: w.Stop, Client: "nemesis", What: tell(w, h.End), Short: w.Name, Class: "fault", Outcome: history.Start}
		}
	}
	return found
}

// tenureStep tells of an elector's belief: of a Lead up to the Yield that follows it.
func tenureStep(h *history.History, i int) step {
	e := &h.Tenures[i]
	when := cmp.Or(e.Tenure.At, e.Time)
	s := step{Line: e.Index, From: when, To: when, Client: e.Process, What: "believes that it holds " + e.Tenure.Key, Short: "holds " + e.Tenure.Key, Class: "tenure", Outcome: e.Type}
	if e.Type == history.Yield {
		s.What, s.Short = "believes no more that it holds "+e.Tenure.Key, "yields"
	} else {
		s.To = history.Never
		for j := i + 1; j < len(h.Tenures); j++ {
			if next := &h.Tenures[j]; next.Process == e.Process && next.Tenure != nil && next.Tenure.Key == e.Tenure.Key && next.Type == history.Yield {
				s.To = max(cmp.Or(next.Tenure.At, next.Time), when)
				s.Answer = "until it yields"
				break
			}
		}
		if s.To == history.Never {
			s.Answer = "until the end of the run"
		}
	}
	if e.Tenure.Disturb {
		s.What += " (its process was disturbed)"
	}
	return s
}

func operationStep(op *history.Operation) step {
	class := "read"
	if writes(op.F) {
		class = "write"
	}
	return step{Line: op.Index, From: op.Invoked, To: op.Settled, Client: op.Process, Node: op.Node, What: asked(op.F, op.Request),
		Answer: answered(op.Outcome, op.Answer), Short: short(op.F, op.Outcome, op.Answer), Class: class, Outcome: op.Outcome}
}

// completed finds the operation that a line completes.
func completed(h *history.History, e history.Event) (step, bool) {
	if e.Type != history.OK && e.Type != history.Fail && e.Type != history.Info {
		return step{}, false
	}
	for i := range h.Operations {
		if op := &h.Operations[i]; op.Settled == e.Time && op.Process == e.Process {
			return operationStep(op), true
		}
	}
	return step{}, false
}

func streamed(s *history.Stream) string {
	if s.Outcome != history.OK {
		return "not opened: " + answered(s.Outcome, s.Answer)
	}
	text := "open, " + plural(len(s.Changes), "event")
	if s.Ended != history.Never {
		text += ", ended at " + at(s.Ended) + " by " + s.Reason
	}
	return text
}

func eventLabel(c *history.Change) string {
	switch {
	case c.Version != nil:
		return fmt.Sprintf("%s %d", c.Type, c.Version.Revision)
	case c.Revision != 0:
		return fmt.Sprintf("%s %d", c.Type, c.Revision)
	default:
		return fmt.Sprintf("%s %d", c.Type, c.Code)
	}
}

func sampled(s *history.Sample) string {
	if s.Error != "" {
		return "no answer, " + s.Error
	}
	text := fmt.Sprintf("%s in term %d, revision %d", cmp.Or(s.Role, "role unknown"), s.Term, s.Revision)
	if s.Hash != "" {
		text += fmt.Sprintf(", state %s at index %d", clip(s.Hash, 16), s.HashIndex)
	}
	return text
}

// quoted is a line of the history as it stands in the file.
type quoted struct {
	Line   int64
	Text   string
	Answer bool // it was not asked for: it completes the call of one that was
	event  history.Event
	place  int64 // the line it is shown under
}

// quote reads lines of history.jsonl, whose numbers are those of its lines in the file, and with each call what completes
// it. A folder without the file has none. Lines too long to be read are cut.
func quote(dir string, wanted map[int64]bool) ([]quoted, error) {
	file, err := os.Open(filepath.Join(dir, "history.jsonl"))
	if errors.Is(err, os.ErrNotExist) || len(wanted) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	last := int64(0)
	for line := range wanted {
		last = max(last, line)
	}
	var out []quoted
	open := make(map[string][]byte) // process whose call was quoted to how a line of its begins to say so
	in := bufio.NewReaderSize(file, 1<<20)
	for number := int64(1); number <= last || len(open) > 0 && number <= last+farAnswer; number++ {
		text, err := line(in, wanted[number] || len(open) > 0)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if wanted[number] || speaks(text, open) {
			if q, ok := quoteLine(number, text, open, wanted[number]); ok {
				out = append(out, q)
			}
		}
		if err != nil {
			break
		}
	}
	for i := range out {
		out[i].place = out[i].after(out)
	}
	slices.SortStableFunc(out, func(a, b quoted) int { return cmp.Compare(a.place, b.place) })
	return out, nil
}

// farAnswer is how many lines behind the last wanted one answers are looked for.
const farAnswer = 200_000

// speaks says whether a line may be of one of the processes.
func speaks(text []byte, open map[string][]byte) bool {
	for _, mark := range open {
		if bytes.Contains(text, mark) {
			return true
		}
	}
	return false
}

// quoteLine quotes a line that is wanted, or that completes an open call.
func quoteLine(number int64, text []byte, open map[string][]byte, wanted bool) (quoted, bool) {
	q := quoted{Line: number, Text: clip(strings.TrimSpace(string(text)), longestRaw), Answer: !wanted}
	if json.Unmarshal(text, &q.event) != nil || q.event.Index != number {
		q.event = history.Event{}
		return q, wanted && len(text) > 0
	}
	process := q.event.Process
	switch q.event.Type {
	case history.Invoke:
		if mark, err := json.Marshal(process); wanted && err == nil {
			open[process] = append([]byte(`"p":`), mark...)
		}
		return q, wanted
	case history.OK, history.Fail, history.Info:
		_, answers := open[process]
		delete(open, process)
		return q, wanted || answers
	default:
		return q, wanted
	}
}

// after is where a line is shown: an answer stands beneath its call.
func (q quoted) after(all []quoted) int64 {
	if q.Answer {
		for i := len(all) - 1; i >= 0; i-- {
			if other := &all[i]; other.Line < q.Line && other.event.Type == history.Invoke && other.event.Process == q.event.Process {
				return other.Line
			}
		}
	}
	return q.Line
}

// excerpt reads the lines of a history from one number to another.
func excerpt(file io.Reader, from, to int64) ([]quoted, error) {
	in := bufio.NewReaderSize(file, 1<<20)
	var out []quoted
	for number := int64(1); number <= to; number++ {
		text, err := line(in, number >= from)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if len(text) > 0 {
			out = append(out, quoted{Line: number, Text: clip(strings.TrimSpace(string(text)), longestRaw)})
		}
		if err != nil {
			break
		}
	}
	return out, nil
}

// line reads a line, or passes over it.
func line(in *bufio.Reader, keep bool) ([]byte, error) {
	var whole []byte
	for {
		part, err := in.ReadSlice('\n')
		if keep {
			whole = append(whole, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return whole, err
		}
	}
}
