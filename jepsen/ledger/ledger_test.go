package ledger_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/jepsen/check"
	"github.com/leasehold/leasehold/jepsen/ledger"
	"github.com/leasehold/leasehold/jepsen/report"
)

func entry(kind string, verdict check.Verdict, operations int) ledger.Entry {
	return ledger.Entry{Time: time.Date(2026, 12, 1, 2, 3, 4, 5, time.UTC), Commit: "0123456789abcdef", Machine: "2 cores", Kind: kind, Workload: "register", Faults: map[string]int{"kill-leader": 3, "pause": 2},
		Operations: operations, Seconds: 60, Verdict: verdict, Sentence: "PASS: all is well <here> | there", Seed: 7, Figures: map[string]float64{ledger.KillsOfAll: 2}}
}

func write(t *testing.T, path string, entries ...ledger.Entry) {
	for _, e := range entries {
		_, err := ledger.Append(path, e)
		require.NoError(t, err)
	}
}

func TestThePageIsMadeFromTheLedger(t *testing.T) {
	entries, err := ledger.Read(filepath.Join("..", ledger.File))
	require.NoError(t, err)
	page, err := os.ReadFile(filepath.Join("..", ledger.Page))
	require.NoError(t, err)
	assert.Equal(t, string(ledger.Render(entries)), string(page), "run jepsen ledger")
}

func TestWhatIsAppendedIsReadBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), ledger.File)
	written, err := ledger.Append(path, entry(ledger.Run, check.Pass, 100))
	require.NoError(t, err)
	write(t, path, entry(ledger.Sim, check.Broken, 5))
	entries, err := ledger.Read(path)
	require.NoError(t, err)
	require.Len(t, entries, 2)
	assert.Equal(t, written, entries[0])
	assert.Equal(t, check.Broken, entries[1].Verdict)
	assert.NotEqual(t, entries[0].Hash, entries[1].Hash)
}

func TestManyMayAppendAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), ledger.File)
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() {
			_, err := ledger.Append(path, entry(ledger.Run, check.Pass, i))
			assert.NoError(t, err)
		})
	}
	wait.Wait()
	v, err := ledger.Verify(path, "")
	require.NoError(t, err)
	assert.Equal(t, 20, v.Lines)
}

func TestTamperingIsNoticed(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, ledger.File)
	for i := range 4 {
		write(t, path, entry(ledger.Run, check.Pass, 100+i))
	}
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.SplitAfter(strings.TrimSuffix(string(data), "\n"), "\n")
	lines[3] += "\n"
	join := func(lines ...string) string { return strings.Join(lines, "") }
	for name, c := range map[string]struct{ text, says string }{
		"a figure changed":           {strings.Replace(string(data), `"operations":102`, `"operations":902`, 1), "line 3"},
		"the last line changed":      {strings.Replace(string(data), `"operations":103`, `"operations":903`, 1), "line 4"},
		"a verdict changed":          {strings.Replace(string(data), `"verdict":"pass"`, `"verdict":"invalid"`, 1), "line 1"},
		"a line taken out":           {join(lines[0], lines[2], lines[3]), "line 2"},
		"the first taken out":        {join(lines[1:]...), "line 1"},
		"lines exchanged":            {join(lines[0], lines[2], lines[1], lines[3]), "line 2"},
		"a line twice":               {join(lines[0], lines[1], lines[1], lines[2], lines[3]), "line 3"},
		"a line cut short":           {string(data[:len(data)-10]), "line 4"},
		"a space":                    {strings.Replace(string(data), `"seed":7`, `"seed": 7`, 1), "line 1"},
		"a field that nobody writes": {strings.Replace(string(data), `"seed":7`, `"seed":7,"luck":1`, 1), "line 1"},
		"not a line at all":          {join(lines[0], "hello\n", lines[1]), "line 2"},
	} {
		require.NoError(t, os.WriteFile(path, []byte(c.text), 0o644))
		_, err := ledger.Verify(path, "")
		assert.ErrorContains(t, err, c.says, name)
		_, err = ledger.Append(path, entry(ledger.Run, check.Pass, 1))
		assert.ErrorContains(t, err, "damaged", name)
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, c.text, string(after), name)
	}
	require.NoError(t, os.WriteFile(path, data, 0o644))
	v, err := ledger.Verify(path, "")
	require.NoError(t, err)
	assert.Equal(t, ledger.Verified{Lines: 4}, v)
}

func TestHistoriesAreComparedWhileTheyExist(t *testing.T) {
	store := t.TempDir()
	path := filepath.Join(store, ledger.File)
	for _, run := range []string{"one", "two", "three"} {
		require.NoError(t, os.Mkdir(filepath.Join(store, run), 0o755))
		file := filepath.Join(store, run, "history.jsonl")
		require.NoError(t, os.WriteFile(file, []byte(run), 0o644))
		sum, err := ledger.Hash(file)
		require.NoError(t, err)
		e := entry(ledger.Run, check.Pass, 1)
		e.Run, e.History = run, sum
		write(t, path, e)
	}
	require.NoError(t, os.RemoveAll(filepath.Join(store, "two")))
	v, err := ledger.Verify(path, store)
	require.NoError(t, err)
	assert.Equal(t, ledger.Verified{Lines: 3, Histories: 2, Gone: 1}, v)

	require.NoError(t, os.WriteFile(filepath.Join(store, "three", "history.jsonl"), []byte("four"), 0o644))
	_, err = ledger.Verify(path, store)
	assert.ErrorContains(t, err, "line 3: the history of three is not the one that was judged")
}

func TestEntriesWithoutFormAreRefused(t *testing.T) {
	for name, spoil := range map[string]func(*ledger.Entry){
		"no time":     func(e *ledger.Entry) { e.Time = time.Time{} },
		"no kind":     func(e *ledger.Entry) { e.Kind = "" },
		"no verdict":  func(e *ledger.Entry) { e.Verdict = "fine" },
		"no sentence": func(e *ledger.Entry) { e.Sentence = "" },
		"negative":    func(e *ledger.Entry) { e.Operations = -1 },
		"short hash":  func(e *ledger.Entry) { e.Run, e.History = "x", "abc" },
		"no number":   func(e *ledger.Entry) { e.Figures["x"] = 1 / zero() },
	} {
		e := entry(ledger.Run, check.Pass, 1)
		spoil(&e)
		_, err := ledger.Append(filepath.Join(t.TempDir(), ledger.File), e)
		assert.Error(t, err, name)
	}
}

func zero() float64 { return 0 }

func TestThePageTellsTotalsAndGoals(t *testing.T) {
	day := entry(ledger.Sim, check.Pass, 40)
	day.Simulated, day.Figures = 31*86400, nil
	dirty := entry(ledger.Run, check.Broken, 77)
	dirty.Dirty = true
	self := entry(ledger.SelfTest, check.Pass, 9999)
	fast := entry(ledger.Failover, check.Pass, 1)
	fast.Figures = map[string]float64{ledger.FailoverMedian: 1.1, ledger.FailoverWorst: 2.34567}
	page := string(ledger.Render([]ledger.Entry{entry(ledger.Run, check.Pass, 6_000_000), entry(ledger.Run, check.Broken, 10), entry(ledger.Matrix, check.Pass, 1234), day, dirty, self, entry(ledger.Run, check.Invalid, 5), fast}))
	for _, line := range []string{
		"| operations checked | 6,001,250 | 40 | 77 |",
		"| simulated days | 0 | 31 | 0 |",
		"| kills of all nodes | 8 | 0 | 2 |",
		"| passed | 3 | 1 | 0 |", "| failed | 1 | 0 | 1 |", "| invalid (showed nothing) | 1 | 0 | 0 |",
		"must be caught: 1, of which 1 passed",
		"| operations checked in a row without a violation | 1,235 | at least 5,000,000 | not yet |", // what came before the failure does not count
		"| simulated days in a row without a violation | 31 | at least 30 | met |",
		"| kills of all nodes | 2 | at least 300 | not yet |",
		"| failover, median | 1.1 s | at most 1.2 s | met |",
		"| failover, worst | 2.346 s | at most 2 s | not yet |",
		"| kill-leader | 15 | 3 |",
		"| 2026-12-01 02:03 | 0123456789\\* | run | register | 77 | 5 |",
		`PASS: all is well &lt;here> \| there`,
	} {
		assert.Contains(t, page, line)
	}
	assert.Contains(t, page, "| "+ledger.RestartGap+" |  | at most 0.25 s | not yet |")
	for i, line := range strings.Split(page, "\n") {
		if strings.HasPrefix(line, "| 2026") {
			assert.Equal(t, 12, strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"), fmt.Sprint("line ", i))
		}
	}
}

func TestTheNewestRunStandsFirst(t *testing.T) {
	late := entry(ledger.Run, check.Pass, 2)
	late.Time = late.Time.Add(time.Hour)
	page := ledger.Render([]ledger.Entry{entry(ledger.Run, check.Pass, 1), late})
	assert.Less(t, bytes.Index(page, []byte("2026-12-01 03:03")), bytes.Index(page, []byte("2026-12-01 02:03")))
}

func TestARunBecomesAnEntry(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a-run")
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "history.jsonl"), []byte("{}\n"), 0o644))
	results := report.Results{Run: report.Run{Began: time.Unix(1, 0), Workload: "mixed", Seed: 5, Environment: report.Environment{Commit: "abc", Dirty: true, Machine: "m"}}, Operations: 12, Seconds: 99,
		Report: check.Report{Verdict: check.Pass, Sentence: "PASS"}, Faults: []report.Faults{{Kind: "kill", Count: 4, Felt: 2, Failed: 1}, {Kind: "fill", Count: 2, Failed: 2}}}
	e, err := ledger.Of(results, ledger.Sim, dir, 4)
	require.NoError(t, err)
	sum, err := ledger.Hash(filepath.Join(dir, "history.jsonl"))
	require.NoError(t, err)
	assert.Equal(t, ledger.Entry{Time: time.Unix(1, 0), Commit: "abc", Dirty: true, Machine: "m", Kind: "sim", Workload: "mixed", Faults: map[string]int{"kill": 2}, Operations: 12, Simulated: 99,
		Seconds: 4, Verdict: check.Pass, Sentence: "PASS", Seed: 5, Run: "a-run", History: sum}, e)
}
