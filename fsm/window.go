package fsm

import (
	"bytes"
	"slices"
	"sort"
)

const (
	// A chunk is full at so many events or bytes. Forgotten events stay in memory until their whole chunk goes.
	chunkEvents = 256
	chunkBytes  = 1 << 20

	// checkpointEvents is how far apart states are kept along the window, so that At undoes no more events than this.
	checkpointEvents = 1 << 16

	// eventBytes is what one event costs beside the data it keeps: its slot and the version of the object, its key's and
	// its UID's strings included.
	eventBytes = 256
)

// window is the events of the revisions oldest+1 to newest, each revision exactly one. A published window never changes:
// the writer's next one shares the chunks, fills only slots beyond newest, and copies the slice of chunks to shorten it.
type window struct {
	oldest, newest uint64
	bytes          uint64 // sum of the events' sizes
	chunks         []*chunk
	checkpoints    []*State // in order of revision, all within the window
}

// chunk is a run of events. used and bytes belong to the writer; readers know the end from the window.
type chunk struct {
	first  uint64 // revision of events[0]
	used   int
	bytes  int
	events [chunkEvents]Event
}

// append adds the event of revision newest+1.
func (w *window) append(event Event) {
	event.size = event.pinned()
	w.newest++
	w.bytes += uint64(event.size)
	var last *chunk
	if len(w.chunks) > 0 {
		last = w.chunks[len(w.chunks)-1]
	}
	if last == nil || last.used == chunkEvents || last.bytes >= chunkBytes {
		last = &chunk{first: event.Revision}
		w.chunks = append(w.chunks, last)
	}
	last.events[last.used] = event
	last.used++
	last.bytes += int(event.size)
}

// pinned returns the bytes that history keeps in memory for this event: the version before, which no present state holds
// any more, and what a deletion shows in its stead. It depends on nothing but the event, so that replicas agree.
func (e *Event) pinned() uint32 {
	size := eventBytes
	if e.Previous != nil {
		size += len(e.Previous.Data)
	}
	if e.Type == Deleted && !bytes.Equal(e.Object.Data, e.Previous.Data) {
		size += len(e.Object.Data)
	}
	return uint32(size)
}

// at returns the events of one chunk from revision on, which must be in the window.
func (w *window) at(revision uint64) []Event {
	i := len(w.chunks) - 1
	if revision < w.chunks[i].first {
		i = sort.Search(i, func(i int) bool { return w.chunks[i].first > revision }) - 1
	}
	end := w.newest + 1
	if i+1 < len(w.chunks) {
		end = w.chunks[i+1].first
	}
	first := w.chunks[i].first
	return w.chunks[i].events[revision-first : end-first : end-first]
}

// event returns the event of one revision in the window.
func (w *window) event(revision uint64) *Event { return &w.at(revision)[0] }

// forget drops the events up to and including revision.
func (w *window) forget(revision uint64) {
	revision = min(revision, w.newest)
	for w.oldest < revision {
		events := w.at(w.oldest + 1)
		events = events[:min(uint64(len(events)), revision-w.oldest)]
		for i := range events {
			w.bytes -= uint64(events[i].size)
		}
		w.oldest += uint64(len(events))
	}
	w.drop()
}

// shrink forgets as many of the oldest events as it takes to come down to limit bytes. What is left depends only on the
// newest events and their sizes. So a machine that began with a part of the window forgets the same as the others.
func (w *window) shrink(limit uint64) {
	for w.bytes > limit {
		events := w.at(w.oldest + 1)
		for i := range events {
			w.bytes -= uint64(events[i].size)
			w.oldest++
			if w.bytes <= limit {
				break
			}
		}
	}
	w.drop()
}

// drop lets go of the chunks and checkpoints that are no longer in the window. It copies what is left: behind a slice
// merely cut at its front the dropped ones would stay in memory.
func (w *window) drop() {
	gone := 0
	for gone < len(w.chunks) && w.chunks[gone].first+uint64(w.chunks[gone].used) <= w.oldest+1 {
		gone++
	}
	if gone > 0 {
		w.chunks = slices.Clone(w.chunks[gone:])
	}
	gone = 0
	for gone < len(w.checkpoints) && w.checkpoints[gone].revision < w.oldest {
		gone++
	}
	if gone > 0 {
		w.checkpoints = slices.Clone(w.checkpoints[gone:])
	}
}

// checkpoint keeps state, which is that of newest, if the last one kept is far behind.
func (w *window) checkpoint(state *State) {
	last := w.oldest
	if n := len(w.checkpoints); n > 0 {
		last = w.checkpoints[n-1].revision
	}
	if w.newest-last >= checkpointEvents {
		w.checkpoints = append(w.checkpoints, state)
	}
}
