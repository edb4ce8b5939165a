//go:build jepsenbugs

// Package seeded, for the chaos harness only: faults that the environment switches on. What each does is told in
// seeded.go.
package seeded

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// Variable of the environment that names the faults of this process, with commas between.
const Variable = "LEASEHOLD_SEEDED_BUG"

// Instrumented tells whether this is a binary for the harness.
const Instrumented = true

// The faults are set once, before main. Tests of one of them set it while nothing else runs.
var (
	ReadLocal             bool
	ReadVerifyLeader      bool
	ReadBeforeNoop        bool
	AppliedIndex          bool
	AckEarly              bool
	NoSync                bool
	DoubleApply           bool
	RetryAfter            bool
	WatchDrop             bool
	WatchDupOnResume      bool
	WatchFutureOld        bool
	WatchGapAfterSnapshot bool
	BookmarkAhead         bool
	ListTorn              bool
	RVReuse               bool
	FSMClock              bool
)

var names = map[string]*bool{
	"read-local":               &ReadLocal,
	"read-verifyleader":        &ReadVerifyLeader,
	"read-before-noop":         &ReadBeforeNoop,
	"applied-index":            &AppliedIndex,
	"ack-early":                &AckEarly,
	"nosync":                   &NoSync,
	"double-apply":             &DoubleApply,
	"retry-after":              &RetryAfter,
	"watch-drop":               &WatchDrop,
	"watch-dup-on-resume":      &WatchDupOnResume,
	"watch-future-old":         &WatchFutureOld,
	"watch-gap-after-snapshot": &WatchGapAfterSnapshot,
	"bookmark-ahead":           &BookmarkAhead,
	"list-torn":                &ListTorn,
	"rv-reuse":                 &RVReuse,
	"fsm-clock":                &FSMClock,
}

// A process that was asked for a fault that it does not know would be taken for one that hides it: it ends at once.
func init() {
	if err := sow(os.Getenv(Variable)); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", Variable, err)
		os.Exit(2)
	}
}

func sow(chosen string) error {
	for name := range strings.SplitSeq(chosen, ",") {
		name = strings.TrimSpace(name)
		if name == "" {
			continue
		}
		fault, known := names[name]
		if !known {
			return fmt.Errorf("%q is no seeded fault; there are %s", name, strings.Join(slices.Sorted(maps.Keys(names)), ", "))
		}
		*fault = true
	}
	return nil
}

// Sown returns the names of the faults of this process, in order.
func Sown() []string {
	var sown []string
	for name, fault := range names {
		if *fault {
			sown = append(sown, name)
		}
	}
	slices.Sort(sown)
	return sown
}
