//go:build !jepsenbugs

// Package wallclock is the time of day: what is written into objects and logs. Durations and deadlines are measured on
// the monotonic clock, which package time has and which nobody sets.
package wallclock

import "time"

// Now is the time of day.
func Now() time.Time { return time.Now() }
