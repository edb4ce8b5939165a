package conformance

import (
	"bufio"
	"fmt"
	"io"
)

// Report is what came of a Check.
type Report struct {
	Cases, Equal, Excepted int // Excepted cases are equal but for exceptions
	Differences            []Difference
	Messages, Headers      Score
	Occurred               []Occurrence
	// Again counts how often a server that was too busy was asked again: a request after 503 with Retry-After, or a whole case
	// after 504 without, when nobody knows what became of the request.
	Again int
	// Answers are what came, by the case's ID.
	Answers map[string][]Answer
}

// Occurrence counts the answers that an exception explained.
type Occurrence struct {
	Exception Exception
	Answers   int
}

func newReport(exceptions []Exception, outcomes []outcome) *Report {
	r := &Report{Cases: len(outcomes), Answers: make(map[string][]Answer)}
	times := make(map[string]int)
	for _, o := range outcomes {
		switch {
		case len(o.differences) > 0:
		case len(o.excepted) > 0:
			r.Excepted++
		default:
			r.Equal++
		}
		for _, name := range o.excepted {
			times[name]++
		}
		r.Answers[o.id] = o.answers
		r.Differences = append(r.Differences, o.differences...)
		r.Again += o.again
		r.Messages.add(o.messages)
		r.Headers.add(o.headers)
	}
	for _, exception := range exceptions {
		r.Occurred = append(r.Occurred, Occurrence{exception, times[exception.Name]})
	}
	return r
}

// OK says that nothing was different.
func (r *Report) OK() bool {
	return len(r.Differences)+len(r.Messages.Differences)+len(r.Headers.Differences) == 0
}

// Write prints a line for each difference and then the totals.
func (r *Report) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	for _, list := range [][]Difference{r.Differences, r.Messages.Differences, r.Headers.Differences} {
		for _, d := range list {
			fmt.Fprintln(out, "DIFFERENT", d)
		}
	}
	for _, o := range r.Occurred {
		fmt.Fprintf(out, "exception %s: %d answers (%s)\n", o.Exception.Name, o.Answers, o.Exception.Rule)
	}
	if r.Again > 0 {
		fmt.Fprintf(out, "asked again after 503 or 504: %d times\n", r.Again)
	}
	fmt.Fprintf(out, "messages: %d of %d equal\n", r.Messages.Equal, r.Messages.Total)
	fmt.Fprintf(out, "lesser headers: %d of %d equal\n", r.Headers.Equal, r.Headers.Total)
	fmt.Fprintf(out, "cases: %d of %d equal, %d more but for exceptions\n", r.Equal, r.Cases, r.Excepted)
	return out.Flush()
}
