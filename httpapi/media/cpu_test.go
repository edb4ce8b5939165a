package media

import (
	"syscall"
	"testing"
	"time"
)

// measureCPU reports what the process used of the processors for each turn of a benchmark, which says more than the clock
// does on a machine that others use too.
func measureCPU(b *testing.B) {
	used := func() time.Duration {
		var usage syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
			b.Fatal(err)
		}
		return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	begin := used()
	b.Cleanup(func() { b.ReportMetric(float64(used()-begin)/float64(b.N), "cpu-ns/op") })
}
