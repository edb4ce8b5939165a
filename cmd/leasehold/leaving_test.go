package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leasehold/leasehold/httpapi"
)

// readiness is a node that is ready for as long as its channel is open.
type readiness struct {
	httpapi.Store
	serving chan struct{}
}

func (r *readiness) Ready() error             { return nil }
func (r *readiness) Serving() <-chan struct{} { return r.serving }

func TestLeavingEndsReadinessAndWatches(t *testing.T) {
	store := newLeavingStore(&readiness{serving: make(chan struct{})})
	serving := store.Serving()
	assert.NoError(t, store.Ready())
	assert.Equal(t, serving, store.Serving(), "one channel for all watches of a time")

	store.leave()
	assert.ErrorIs(t, store.Ready(), errLeaving)
	<-serving
	<-store.Serving()
}

func TestWatchesEndWithTheNodesOwnReadinessAndBeginAnew(t *testing.T) {
	node := &readiness{serving: make(chan struct{})}
	store := newLeavingStore(node)
	first := store.Serving()
	close(node.serving)
	<-first
	<-store.Serving()

	node.serving = make(chan struct{})
	select {
	case <-store.Serving():
		t.Fatal("ready again, but watches would end at once")
	default:
	}
	store.leave()
}
