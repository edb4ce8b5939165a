package cluster

import "sync"

// gather lets all who ask before a piece of work begins share it. Nobody joins work that has begun: what it looked at
// may be older than the question.
type gather struct {
	work  func() (uint64, error)
	limit int // pieces of work at once

	mu      sync.Mutex // guards what follows
	next    *shared
	running int
}

// shared is one piece of work. index and err hold once done is closed.
type shared struct {
	done  chan struct{}
	then  []func(index uint64, err error) // called before done is closed, must not block
	index uint64
	err   error
}

// join returns work that begins after the call. then, if given, is called at its end.
func (g *gather) join(then func(index uint64, err error)) *shared {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.next == nil {
		g.next = &shared{done: make(chan struct{})}
	}
	joined := g.next
	if then != nil {
		joined.then = append(joined.then, then)
	}
	g.begin()
	return joined
}

// begin starts the next work if it may. The caller holds the lock.
func (g *gather) begin() {
	if g.next == nil || g.running >= g.limit {
		return
	}
	begun := g.next
	g.next = nil
	g.running++
	go g.run(begun)
}

func (g *gather) run(s *shared) {
	s.index, s.err = g.work()
	for _, then := range s.then {
		then(s.index, s.err)
	}
	close(s.done)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running--
	g.begin()
}
