package cluster

import "sync"

// view is whom this node takes for the leader.
type view struct {
	leader string // node ID, "" while none is known
	epoch  uint64 // grows with every piece of news, also when a leader is back after none was known
}

// leaders publishes the view. Its channel is closed by the next piece of news.
type leaders struct {
	mu      sync.Mutex // guards what follows
	current view
	changed chan struct{}
}

func newLeaders() *leaders { return &leaders{changed: make(chan struct{})} }

// view returns the present view and a channel that is closed when it is out of date.
func (l *leaders) view() (view, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.current, l.changed
}

// news records who leads now.
func (l *leaders) news(leader string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.current.leader == leader {
		return
	}
	l.current = view{leader: leader, epoch: l.current.epoch + 1}
	close(l.changed)
	l.changed = make(chan struct{})
}
