package report

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/jepsen/check"
	"github.com/leasehold/leasehold/jepsen/history"
)

func pictures() []string { return []string{"latency.svg", "rate.svg", "availability.svg", "lag.svg"} }

func read(t *testing.T, dir, name string) string {
	data, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	return string(data)
}

// inOrder asserts that the parts stand in a text one after the other.
func inOrder(t *testing.T, text string, parts ...string) {
	t.Helper()
	from := 0
	for _, part := range parts {
		at := strings.Index(text[from:], part)
		if !assert.GreaterOrEqual(t, at, 0, "%q is missing, or stands too early", part) {
			return
		}
		from += at + len(part)
	}
}

func TestAStaleReadIsExplainedOnTop(t *testing.T) {
	s := good(300)
	dir := folder(t, s, staleRead(s))
	page := read(t, dir, "index.html")
	inOrder(t, page, "FAIL", "node-2 answered a read of jepsen-a/lease-stale", "The first broken promise",
		"never older than a write that was acknowledged before", "nine milliseconds after node-3 had acknowledged",
		"partition-leader-1 at node-2, from 10.000 s to 13.000 s", `<svg`, "update → 9005", "read: 9001", "Step by step",
		"create jepsen-a/lease-stale", "update jepsen-a/lease-stale, if still at revision 9001", `class="decisive"`, "read jepsen-a/lease-stale",
		"All that is known of jepsen-a/lease-stale", "9001", "9005", "35-1", "history.jsonl?line=", "Run it again", "--seed 42", "Checkers", "latency.svg", "Faults", "kill-leader", "nodes/node-1/stderr.log")
	assert.Contains(t, page, `&#34;rv&#34;:&#34;9001&#34;`, "the lines themselves are quoted")
	assert.Contains(t, page, "with uncommitted changes")
	assert.NotContains(t, strings.ReplaceAll(page, `xmlns="http://www.w3.org/2000/svg"`, ""), "://", "nothing is fetched from elsewhere")
}

func TestAGapInAWatchIsExplained(t *testing.T) {
	s := good(300)
	dir := folder(t, s, watchGap(s))
	inOrder(t, read(t, dir, "index.html"), "between two events that it delivered lies no other", "ADDED 9100", "update → 9101", "MODIFIED 9102", "Step by step",
		"its watch is sent ADDED", "200, revision 9101", "its watch is sent MODIFIED")
}

func TestAGoodRunSaysWhatItShows(t *testing.T) {
	dir := folder(t, good(300), func(map[string]int64) check.Report { return goodVerdict() })
	page := read(t, dir, "index.html")
	inOrder(t, page, "PASS", "Every promise held", "300 operations", "12 faults", "Checkers", "register", "elections")
	assert.NotContains(t, page, "broken promise")
}

func TestResultsAreReadBack(t *testing.T) {
	s := good(300)
	dir := folder(t, s, staleRead(s))
	r, err := ReadResults(dir)
	require.NoError(t, err)
	assert.Equal(t, check.Broken, r.Verdict)
	assert.Equal(t, uint64(42), r.Run.Seed)
	assert.Equal(t, 306, r.Operations)
	assert.Equal(t, "O5", r.First.Guarantee)
	assert.Len(t, r.Results, 3)
	require.NotEmpty(t, r.Faults)
	assert.Equal(t, Faults{Kind: "kill-leader", Family: "kill", Count: 2, Felt: 2, Time: 4 * second, Effect: "a new leader, node-2, after 1.04 s"}, r.Faults[0])
	for _, f := range r.Faults {
		switch f.Kind {
		case "pause":
			assert.Equal(t, 1, f.Unfelt())
		case "partition-ring":
			assert.Equal(t, 1, f.Failed)
			assert.Zero(t, f.Unfelt())
		}
	}
}

func TestTheEarliestOfTheWorstComesFirst(t *testing.T) {
	f := func(v check.Verdict, at int64) check.Finding { return check.Finding{Verdict: v, Time: at} }
	report := check.Report{Results: []check.Result{
		{Findings: []check.Finding{f(check.Invalid, 1), f(check.Unknown, 2), f(check.Broken, 9)}},
		{Findings: []check.Finding{f(check.Broken, 5), f(check.Broken, 7)}},
	}}
	assert.Equal(t, f(check.Broken, 5), *First(report))
	assert.Nil(t, First(check.Report{}))
	report.Results = report.Results[:1]
	report.Results[0].Findings = report.Results[0].Findings[:2]
	assert.Equal(t, f(check.Unknown, 2), *First(report))
}

func TestHostileTextStaysText(t *testing.T) {
	const evil = "</title><script>alert(1)</script>\"'><svg onload=x>\x00\x1b[31m\xff"
	s := good(60)
	s.call("evil", evil, history.Update, evil, 2*second, 3*second, history.Request{Key: evil, ID: evil, Holder: evil, Revision: evil}, history.OK,
		history.Answer{Code: 200, Error: evil, Version: &history.Version{Key: evil, Revision: 7, ID: evil, Holder: evil, Elements: []string{evil}}})
	s.fault(evil, evil, evil, second, 4*second, evil, "", evil)
	s.add("", history.Event{Time: 2 * second, Process: "probe", Type: history.Probe, Node: evil, Sample: &history.Sample{Role: "leader", Error: ""}})
	dir := folder(t, s, func(lines map[string]int64) check.Report {
		return check.Report{Verdict: check.Broken, Sentence: evil, Counts: map[string]int{evil: 1}, Results: []check.Result{{Checker: evil, Judges: []string{evil}, Verdict: check.Broken, Note: evil,
			Findings: []check.Finding{{Guarantee: evil, Verdict: check.Broken, Sentence: evil, Time: 2 * second, Lines: []int64{lines["evil"]}, Keys: []string{evil}, Faults: []string{evil}},
				{Guarantee: evil, Verdict: check.Broken, Sentence: evil, Time: 3 * second, Faults: []string{evil}}}}}}
	})
	for _, name := range append(pictures(), "index.html") {
		text := read(t, dir, name)
		assert.NotContains(t, text, "<script", name)
		assert.NotContains(t, text, "<svg onload", name)
		assert.NotContains(t, text, "\x00", name)
	}
	for _, name := range pictures() {
		elements(t, read(t, dir, name))
	}
}

// element is one of a picture.
type element struct {
	name  string
	attrs map[string]string
	text  string
}

// elements reads a picture as strictly as XML demands.
func elements(t *testing.T, text string) []element {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(text))
	var all []element
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			e := element{name: token.Name.Local, attrs: make(map[string]string)}
			for _, a := range token.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			all = append(all, e)
		case xml.CharData:
			if len(all) > 0 {
				all[len(all)-1].text += string(token)
			}
		}
	}
}

func TestTwoHoldersAreShownSideBySide(t *testing.T) {
	s := good(300)
	dir := folder(t, s, twoHolders(s))
	page := read(t, dir, "index.html")
	inOrder(t, page, "no two of them believe at the same time", "elector-1", "elector-2", "Step by step", "19.000 s", "23.000 s", "elector-1", "until it yields", "22.000 s", "never", "elector-2", "until the end of the run")
}

func TestAFindingWithoutLinesShowsItsTime(t *testing.T) {
	s := good(300)
	dir := folder(t, s, func(map[string]int64) check.Report {
		r := goodVerdict()
		r.Verdict, r.Sentence = check.Broken, "FAIL liveness.D5: no write for 4 s."
		r.Results[0].Findings = []check.Finding{{Guarantee: "D5", Verdict: check.Broken, Sentence: "No write succeeded for 4 s though all nodes ran.", Time: 5 * second}}
		return r
	})
	page := read(t, dir, "index.html")
	inOrder(t, page, "writes succeed again within a bounded time", "No write succeeded", "<svg", "kill-leader", "At about that time", "client")
	for _, link := range regexp.MustCompile(`href="#(line-\d+)"`).FindAllStringSubmatch(page, -1) {
		assert.Contains(t, page, `id="`+link[1]+`"`)
	}
}

func TestSwimLanesKeepTheOrderOfTime(t *testing.T) {
	s := good(300)
	verdict := staleRead(s)
	h, lines := s.finish(t, t.TempDir())
	f := First(verdict(lines))
	all := steps(h, f, nil)
	require.Len(t, all, 3)
	bars := make(map[string]element) // class to bar
	var order []element
	for _, e := range elements(t, string(swimlanes(h, all, nil, f.Faults, []string{"node-1", "node-2", "node-3"}))) {
		if class := e.attrs["class"]; strings.HasPrefix(class, "bar") {
			bars[class] = e
			order = append(order, e)
		}
	}
	number := func(e element, attr string) float64 {
		v, err := strconv.ParseFloat(e.attrs[attr], 64)
		require.NoError(t, err)
		return v
	}
	require.Len(t, order, 3)
	for i, e := range order {
		assert.Greater(t, number(e, "width"), 15.0, "what took milliseconds is still to be seen")
		assert.Less(t, number(e, "x")+number(e, "width"), float64(swimRight))
		if i > 0 {
			assert.Greater(t, number(e, "x"), number(order[i-1], "x")+number(order[i-1], "width"), "what began after another's end stands behind it")
		}
	}
	assert.Equal(t, order[2], bars["bar c-read decisive"])
	assert.Equal(t, number(order[0], "y"), number(order[1], "y"), "one client, one lane")
	assert.NotEqual(t, number(order[1], "y"), number(order[2], "y"))
}

func TestAnObjectsHistoryIsInTheOrderOfItsVersions(t *testing.T) {
	const key = "a/x"
	write := func(line int64, f, id string, from, to int64, outcome history.Type, revision uint64) history.Operation {
		op := history.Operation{Index: line, Process: "1", F: f, Node: "n", Request: &history.Request{Key: key, ID: id}, Outcome: outcome, Answer: &history.Answer{Code: 200}, Invoked: from, Settled: to, Returned: to}
		if revision != 0 {
			op.Answer.Version = &history.Version{Key: key, Revision: revision, ID: id}
		}
		return op
	}
	seen := func(line int64, kind string, revision uint64, id string) history.Arrival {
		return history.Arrival{Index: line, Change: &history.Change{Type: kind, Version: &history.Version{Key: key, Revision: revision, ID: id}}}
	}
	h := &history.History{End: 100, Operations: []history.Operation{
		write(1, history.Create, "w1", 1, 2, history.OK, 11), write(3, history.Update, "w2", 3, 9, history.OK, 15), write(4, history.Update, "w3", 4, 8, history.Info, 0),
		write(5, history.Update, "w4", 5, 6, history.Fail, 0), write(6, history.Delete, "", 10, 12, history.OK, 0), write(8, history.Create, "w5", 20, 22, history.OK, 30),
		{F: history.Get, Request: &history.Request{Key: key}, Outcome: history.OK, Answer: &history.Answer{Version: &history.Version{Key: key, Revision: 15}}},
	}, Streams: []history.Stream{{Changes: []history.Arrival{seen(20, "MODIFIED", 13, "w3"), seen(21, "DELETED", 17, "w2"), seen(22, "ADDED", 30, "w5")}}}}
	var got []string
	for _, row := range historyOf(h, key, map[int64]bool{22: true}).Rows {
		got = append(got, fmt.Sprintf("%d %s seen %d %v", row.Revision, row.What, row.Seen, row.Concerned))
	}
	assert.Equal(t, []string{"11 create w1 seen 0 false", "13 written by w3 seen 1 false", "15 update w2 seen 1 false", "17 deletion seen 1 false",
		"0 update w3 (unknown outcome; somebody saw it) seen 0 false", "0 delete seen 0 false", "30 create w5 seen 1 true"}, got)
}
