package fsm

import (
	"context"
	"slices"
	"sync"
)

// waiters are the callers that wait for a number to be reached. Those that wait for the same one share a channel, so
// that a round of readers is woken by one close; nobody is woken before his number.
type waiters struct {
	mu     sync.Mutex // guards groups; the writer holds it to wake, a caller to join or leave
	groups []*group   // in order of target
}

type group struct {
	target  uint64
	reached chan struct{} // closed when target has been reached
	size    int           // how many wait
}

// wait returns once reached reports a number of at least target. The writer calls wake after each change of it.
func (w *waiters) wait(ctx context.Context, target uint64, reached func() uint64) error {
	if reached() >= target {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	joined := w.join(target, reached)
	if joined == nil {
		return nil
	}
	select {
	case <-joined.reached:
		return nil
	case <-ctx.Done():
		w.leave(joined)
		return ctx.Err()
	}
}

// join returns nil if target was reached meanwhile. Looking again with the lock held makes sure that a wake either finds
// the group or was preceded by what it tells.
func (w *waiters) join(target uint64, reached func() uint64) *group {
	w.mu.Lock()
	defer w.mu.Unlock()
	if reached() >= target {
		return nil
	}
	i := w.position(target)
	if i == len(w.groups) || w.groups[i].target != target {
		w.groups = slices.Insert(w.groups, i, &group{target: target, reached: make(chan struct{})})
	}
	w.groups[i].size++
	return w.groups[i]
}

func (w *waiters) leave(joined *group) {
	w.mu.Lock()
	defer w.mu.Unlock()
	joined.size--
	if joined.size > 0 {
		return
	}
	if i := w.position(joined.target); i < len(w.groups) && w.groups[i] == joined {
		w.groups = slices.Delete(w.groups, i, i+1)
	}
}

// wake lets go all that wait for number or less.
func (w *waiters) wake(number uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for n < len(w.groups) && w.groups[n].target <= number {
		close(w.groups[n].reached)
		n++
	}
	w.groups = slices.Delete(w.groups, 0, n)
}

func (w *waiters) position(target uint64) int {
	i, _ := slices.BinarySearchFunc(w.groups, target, func(g *group, target uint64) int {
		switch {
		case g.target < target:
			return -1
		case g.target > target:
			return 1
		}
		return 0
	})
	return i
}
