package main

import (
	"errors"
	"sync"

	"github.com/leasehold/leasehold/httpapi"
)

var errLeaving = errors.New("node is stopping")

// leavingStore is a node that can say that it is not ready any more while it still answers: the first step of a
// graceful stop, which ends watches and sends new work elsewhere.
type leavingStore struct {
	httpapi.Store
	leaving chan struct{} // closed by leave

	mu     sync.Mutex // guards what follows
	inner  <-chan struct{}
	merged chan struct{}  // closed once inner or leaving is
	merges sync.WaitGroup // one goroutine for each inner that has been seen
}

func newLeavingStore(store httpapi.Store) *leavingStore {
	return &leavingStore{Store: store, leaving: make(chan struct{})}
}

// leave makes the node not ready for good. It is called once.
func (s *leavingStore) leave() {
	s.mu.Lock() // whoever is about to begin a merge has begun it
	close(s.leaving)
	s.mu.Unlock()
	s.merges.Wait()
}

// Ready returns errLeaving after leave.
func (s *leavingStore) Ready() error {
	select {
	case <-s.leaving:
		return errLeaving
	default:
		return s.Store.Ready()
	}
}

// Serving returns a channel that is closed when the node stops being ready or leaves.
func (s *leavingStore) Serving() <-chan struct{} {
	inner := s.Store.Serving()
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.leaving:
		return s.leaving
	default:
	}
	if inner == s.inner {
		return s.merged
	}
	merged := make(chan struct{})
	s.inner, s.merged = inner, merged
	s.merges.Go(func() {
		defer close(merged)
		select {
		case <-inner:
		case <-s.leaving:
		}
	})
	return merged
}
