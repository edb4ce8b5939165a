package nemesis

import (
	"maps"
	"sync"
	"time"

	"github.com/leasehold/leasehold/jepsen/history"
)

// leastCalls is how many answers a second needs to count as one that tells how fast the cluster is when it is calm.
const leastCalls = 5

// datingsKept bounds how many dates of new objects are remembered of each node.
const datingsKept = 256

// Meter counts what clients did and how long it took them, from the history as it is written: what a fault meant to them.
// Its Follow is to be told of every line. It is safe for many goroutines.
type Meter struct {
	mu    sync.Mutex // guards what follows
	open  map[string]call
	total Reading
	calm  time.Duration
	lost  map[string]int64    // by node, calls that were not answered
	skew  map[string][]dating // by node, the last ones

	second int64 // of the history, that the next two are of
	calls  int64
	busy   time.Duration
}

type call struct {
	f, node string
	at      int64
}

// Reading is what was counted up to some time.
type Reading struct {
	Called, OK, Fail, Unknown int64
	Lost                      map[string]int64 // by node, calls that were not answered, whether sent or not
	Busy                      time.Duration    // time that all answered calls took together
	InFlight                  int              // calls without an answer just now
	Calm                      time.Duration    // what a call took on average in the best second so far
}

// dating is how a node dated an object that was created through it.
type dating struct {
	at   time.Time
	skew time.Duration
}

// NewMeter returns a meter at zero.
func NewMeter() *Meter {
	return &Meter{open: make(map[string]call), lost: make(map[string]int64), skew: make(map[string][]dating)}
}

// Follow takes the next line of the history.
func (m *Meter) Follow(e history.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch e.Type {
	case history.Invoke:
		if e.F == history.Watch {
			return // it lasts
		}
		m.open[e.Process] = call{e.F, e.Node, e.Time}
		m.total.Called++
	case history.OK, history.Fail, history.Info:
		if c, ok := m.open[e.Process]; ok {
			delete(m.open, e.Process)
			m.completed(c, e)
		}
	}
}

func (m *Meter) completed(c call, e history.Event) {
	took := time.Duration(e.Time - c.at)
	m.total.Busy += took
	switch e.Type {
	case history.OK:
		m.total.OK++
	case history.Fail:
		m.total.Fail++
	default:
		m.total.Unknown++
	}
	if e.Type != history.OK && (e.Answer == nil || e.Answer.Code == 0) {
		m.lost[c.node]++
	}
	if second := e.Time / int64(time.Second); second != m.second {
		if m.calls >= leastCalls {
			if mean := m.busy / time.Duration(m.calls); m.calm == 0 || mean < m.calm {
				m.calm = mean
			}
		}
		m.second, m.calls, m.busy = second, 0, 0
	}
	m.calls++
	m.busy += took
	if e.Type == history.OK && c.f == history.Create && e.Answer != nil && e.Answer.Version != nil && e.Answer.Version.Created != 0 {
		now := time.Now()
		kept := append(m.skew[c.node], dating{now, time.Unix(e.Answer.Version.Created, 0).Sub(now)})
		m.skew[c.node] = kept[max(0, len(kept)-datingsKept):]
	}
}

// Read tells what was counted so far. A nil meter has counted nothing.
func (m *Meter) Read() Reading {
	if m == nil {
		return Reading{}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.total
	r.InFlight = len(m.open)
	r.Calm = m.calm
	r.Lost = maps.Clone(m.lost)
	return r
}

// dated returns the furthest off from now that the node dated an object created through it since t, if one was.
func (m *Meter) dated(node string, t time.Time) (time.Duration, bool) {
	if m == nil {
		return 0, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var furthest time.Duration
	found := false
	for _, d := range m.skew[node] {
		if d.at.Before(t) {
			continue
		}
		found = true
		if d.skew.Abs() > furthest.Abs() {
			furthest = d.skew
		}
	}
	return furthest, found
}

// mean is what the calls answered between two readings took on average, and how many they are.
func (r Reading) mean(before Reading) (time.Duration, int64) {
	n := r.OK + r.Fail + r.Unknown - before.OK - before.Fail - before.Unknown
	if n == 0 {
		return 0, 0
	}
	return (r.Busy - before.Busy) / time.Duration(n), n
}
