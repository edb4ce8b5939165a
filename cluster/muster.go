package cluster

import "time"

const (
	// musterLimit is how long an entry waits for company after the one before it was answered. The syncs of an entry
	// take about as long.
	musterLimit = 3 * time.Millisecond
	// musterFloor is how many commands must be about before an entry waits for company at all.
	musterFloor = 8
)

// muster says when the next entry may leave. An entry costs three nodes about a millisecond of CPU, two syncs of bolt
// each, whatever is in it. Callers who have just been answered mostly come back within moments, but not all at once: an
// entry that took only those who are there when the one before it ends would carry a third of them, where half or more
// could share the cost. So while many are about, an entry leaves when three quarters of them are there again, or when
// musterLimit has passed; with few, it never waits.
//
// The caller of its methods sees to it that there is one at a time.
type muster struct {
	enough int // commands that need not wait for others
	until  time.Time
	timer  *time.Timer
}

// ended is told when an entry with so many commands has been answered while others are waiting.
func (m *muster) ended(answered, waiting int, now time.Time) {
	m.enough = 0
	if about := answered + waiting; about >= musterFloor {
		m.enough, m.until = about*3/4, now.Add(musterLimit)
	}
}

// wait returns how long so many waiting commands should wait for others yet: 0 is not at all.
func (m *muster) wait(waiting int, now time.Time) time.Duration {
	if waiting >= m.enough {
		return 0
	}
	return max(0, m.until.Sub(now))
}

// later calls f after a wait, unless a later wait is asked for before.
func (m *muster) later(wait time.Duration, f func()) {
	if m.timer == nil {
		m.timer = time.AfterFunc(wait, f)
		return
	}
	m.timer.Reset(wait)
}
