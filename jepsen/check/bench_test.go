package check_test

import (
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/jepsen/check"
	"github.com/leasehold/leasehold/jepsen/history"
)

// traffic makes a legal history of n operations over 10,000 objects: half are reads, the others updates, a hundred clients are at
// work at once, and one watch sees all. What is the same is shared, so that the history itself stays small.
func traffic(n int) *history.History {
	const objects, clients = 10_000, 100
	rng := rand.New(rand.NewPCG(1, 2))
	h := &history.History{Operations: make([]history.Operation, 0, n)}
	keys, reads := make([]string, objects), make([]*history.Request, objects)
	current := make([]*history.Answer, objects)
	for i := range keys {
		keys[i] = "a/object-" + strconv.Itoa(i)
		reads[i] = &history.Request{Key: keys[i]}
	}
	stream := history.Stream{Process: "w", Node: "node-1", Request: &history.Request{Revision: "1000"}, Outcome: history.OK, Ended: history.Never}
	revision, busy := uint64(1000), make([]int64, clients)
	for i := range n {
		now := int64(i+1) * 100_000
		c, o := rng.IntN(clients), rng.IntN(objects)
		op := history.Operation{Index: int64(i), Process: "c", Node: "node-1", Outcome: history.OK, Invoked: max(now, busy[c]+1)}
		op.Returned = now + 99_000
		op.Settled = op.Returned
		busy[c] = op.Returned
		if current[o] != nil && i%2 == 0 {
			op.F, op.Request, op.Answer = history.Get, reads[o], current[o]
		} else {
			revision++
			v := &history.Version{Key: keys[o], UID: "u", Revision: revision, ID: strconv.Itoa(i), Digest: revision, Created: 1}
			op.F, op.Request = history.Create, &history.Request{Key: keys[o], ID: v.ID}
			v.UID = keys[o]
			kind := "ADDED"
			if current[o] != nil {
				kind, op.F, op.Request.Revision = "MODIFIED", history.Update, strconv.FormatUint(current[o].Version.Revision, 10)
			}
			current[o] = &history.Answer{Code: 200, Version: v}
			op.Answer = current[o]
			stream.Changes = append(stream.Changes, history.Arrival{Index: int64(i), Time: op.Returned + 1, Change: &history.Change{Type: kind, Version: v}})
		}
		h.Operations = append(h.Operations, op)
		h.End = op.Returned
	}
	h.Streams = []history.Stream{stream}
	return h
}

// BenchmarkJudge tells how many operations are judged in a second, of JEPSEN_CHECK_OPERATIONS (200,000), without the second opinion.
func BenchmarkJudge(b *testing.B) {
	n := 200_000
	if value := os.Getenv("JEPSEN_CHECK_OPERATIONS"); value != "" {
		var err error
		n, err = strconv.Atoi(value)
		require.NoError(b, err)
	}
	h := traffic(n)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := processor(b)
	for b.Loop() {
		report := check.Judge(h, check.Options{LinearOperations: -1})
		require.Equal(b, check.Pass, report.Verdict, report.Sentence)
		for _, r := range report.Results {
			b.Logf("%-10s %s", r.Checker, time.Duration(r.Seconds*float64(time.Second)).Round(time.Millisecond))
		}
	}
	runtime.ReadMemStats(&after)
	b.ReportMetric((processor(b)-began).Seconds()/float64(b.N), "processor-s")
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "operations/s")
	b.ReportMetric(float64(before.HeapAlloc)/1e6, "MB-history")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/1e6/float64(b.N), "MB-allocated")
}

// processor is the time that this process has had of the processors, which other processes do not lengthen.
func processor(b *testing.B) time.Duration {
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
