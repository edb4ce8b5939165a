package check_test

import (
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/jepsen/check"
	"github.com/leasehold/leasehold/jepsen/history"
)

// histories is how many random histories the tests try: JEPSEN_CHECK_HISTORIES, or a hundred.
func histories(t *testing.T) int {
	n := 100
	if value := os.Getenv("JEPSEN_CHECK_HISTORIES"); value != "" {
		var err error
		n, err = strconv.Atoi(value)
		require.NoError(t, err, "JEPSEN_CHECK_HISTORIES")
	}
	return n
}

func build(t *testing.T, lines []history.Event) *history.History {
	b := history.NewBuilder()
	for _, e := range lines {
		require.NoError(t, b.Add(e), "line %d", e.Index)
	}
	return b.History()
}

func TestLegalHistoriesPass(t *testing.T) {
	events := 0
	for seed := range histories(t) {
		lines := newWorld(uint64(seed)).run(500)
		events += len(lines)
		report := check.Judge(build(t, lines), check.Options{NeedStreams: true})
		require.Equal(t, check.Pass, report.Verdict, "seed %d: %s\n%s", seed, report.Sentence, sentences(report))
	}
	t.Logf("%d lines", events)
}
