//go:build jepsenbugs

// Package wallclock, for the chaos harness only: a time of day that is off by what a file says.
package wallclock

import (
	"os"
	"strings"
	"sync"
	"time"
)

// Variable of the environment that names the file: a Go duration such as -1h30m, or nothing. It may be replaced at any time.
const Variable = "LEASEHOLD_CLOCK_OFFSET_FILE"

// freshFor is how long an offset holds that was read.
const freshFor = 20 * time.Millisecond

var clock = shifted{path: os.Getenv(Variable)}

// Now is the time of day as the file has it.
func Now() time.Time { return clock.now(time.Now()) }

type shifted struct {
	path string

	mu     sync.Mutex // guards what follows
	read   time.Time
	offset time.Duration
}

// now returns a time without a monotonic reading: it may go backwards. A file that is missing or half written changes
// nothing.
func (s *shifted) now(now time.Time) time.Time {
	if s.path == "" {
		return now
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.read.IsZero() || now.Sub(s.read) > freshFor {
		s.read = now
		if text, err := os.ReadFile(s.path); err == nil {
			if offset, err := time.ParseDuration(strings.TrimSpace(string(text))); err == nil {
				s.offset = offset
			}
		}
	}
	return now.Round(0).Add(s.offset)
}
