package testbed

import (
	"fmt"
	"slices"
	"sync"

	"github.com/leasehold/leasehold/jepsen/nemesis"
)

// direction is one way between two places, each a node or nemesis.Client.
type direction struct{ from, to string }

func (d direction) back() direction { return direction{d.to, d.from} }

// links holds the condition of every direction. It is read for each packet, or piece of a stream, that goes that way.
type links struct {
	mu         sync.RWMutex // guards what follows
	conditions map[direction]nemesis.Condition
	changed    chan struct{} // closed, and replaced, at every change
}

func newLinks() *links {
	return &links{conditions: map[direction]nemesis.Condition{}, changed: make(chan struct{})}
}

// at returns the condition of a direction, and a channel that is closed when any condition has changed since.
func (l *links) at(d direction) (nemesis.Condition, <-chan struct{}) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.conditions[d], l.changed
}

// set changes a direction's condition.
func (l *links) set(d direction, c nemesis.Condition) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c == (nemesis.Condition{}) {
		delete(l.conditions, d)
	} else {
		l.conditions[d] = c
	}
	close(l.changed)
	l.changed = make(chan struct{})
}

// checkLink says what is wrong with a direction or the condition wanted for it.
func checkLink(nodes []string, d direction, c nemesis.Condition) error {
	for _, end := range []string{d.from, d.to} {
		if end != nemesis.Client && !slices.Contains(nodes, end) {
			return fmt.Errorf("link from %s to %s: there is no node %q", d.from, d.to, end)
		}
	}
	switch {
	case d.from == d.to:
		return fmt.Errorf("link from %s to itself: nothing passes there", d.from)
	case c.Loss < 0 || c.Loss > 1:
		return fmt.Errorf("link from %s to %s: a loss of %v is no share between 0 and 1", d.from, d.to, c.Loss)
	case c.Delay < 0 || c.Jitter < 0:
		return fmt.Errorf("link from %s to %s: delay and jitter cannot be negative", d.from, d.to)
	}
	return nil
}
