package fsm

import (
	"slices"
	"sort"
	"sync"
)

// pastStates is how many reconstructed states are kept: enough for the paginated lists that go on at one time. Each
// keeps in memory what later changes replaced, until the history has forgotten its revision.
const pastStates = 8

// past keeps the states that were reconstructed last.
type past struct {
	mu   sync.Mutex // guards kept; never held while a state is made
	kept []*pastState
}

type pastState struct {
	lineage  *token // of the view that it was made from: after a Restore the same revision may be another state
	revision uint64
	once     sync.Once
	state    *State
}

// at returns the state of a revision in v's window. Callers that race for one revision make it once.
func (p *past) at(v *view, revision uint64) *State {
	entry := p.entry(v, revision)
	entry.once.Do(func() { entry.state = v.rewind(revision) })
	return entry.state
}

// entry returns the place for a state and moves it to the end, the last to be dropped.
func (p *past) entry(v *view, revision uint64) *pastState {
	p.mu.Lock()
	defer p.mu.Unlock()
	entry := &pastState{lineage: v.lineage, revision: revision}
	for i, kept := range p.kept {
		if kept.lineage == v.lineage && kept.revision == revision {
			entry = kept
			p.kept = slices.Delete(p.kept, i, i+1)
			break
		}
	}
	if len(p.kept) == pastStates {
		p.kept = slices.Delete(p.kept, 0, 1)
	}
	p.kept = append(p.kept, entry)
	return entry
}

// trim drops the states that v's window no longer holds.
func (p *past) trim(v *view) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept = slices.DeleteFunc(p.kept, func(kept *pastState) bool {
		return kept.lineage != v.lineage || kept.revision < v.window.oldest
	})
}

// rewind makes the state of a revision in the window by undoing the events since, newest first, from the nearest state
// known above it.
func (v *view) rewind(revision uint64) *State {
	base, w := v.state, &v.window
	if i := sort.Search(len(w.checkpoints), func(i int) bool { return w.checkpoints[i].revision >= revision }); i < len(w.checkpoints) {
		base = w.checkpoints[i]
	}
	var edit edit
	edit.begin(base.root)
	var id []byte
	for r := base.revision; r > revision; r-- {
		event := w.event(r)
		id = event.Object.Key.appendID(id[:0])
		edit.undo(string(id), event)
	}
	return &State{revision: revision, root: edit.root}
}

func (e *edit) undo(id string, event *Event) {
	switch event.Type {
	case Added:
		e.remove(id)
	case Modified:
		e.find(id)
		e.replace(event.Previous)
	case Deleted:
		e.insert(id, event.Previous)
	}
}
