package nemesis

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// wires keeps what all faults in force want of the links.
type wires struct {
	target Target
	lock   chan struct{} // held by who reads or writes what follows, also while the target is called
	wants  map[link]map[string]Condition
	now    map[link]Condition // what a link was last told, if it is not good
	doubt  map[link]bool      // a call failed: tell it again
}

func newWires(target Target) *wires {
	return &wires{target: target, lock: make(chan struct{}, 1), wants: make(map[link]map[string]Condition),
		now: make(map[link]Condition), doubt: make(map[link]bool)}
}

// set makes conditions all that a fault wants of the links.
func (w *wires) set(fault string, conditions map[link]Condition) error {
	w.lock <- struct{}{}
	defer func() { <-w.lock }()
	changed := make(map[link]bool)
	for l, wants := range w.wants {
		if _, ok := wants[fault]; ok {
			changed[l] = true
			delete(wants, fault)
		}
	}
	for l, c := range conditions {
		if c == (Condition{}) {
			continue
		}
		changed[l] = true
		if w.wants[l] == nil {
			w.wants[l] = make(map[string]Condition)
		}
		w.wants[l][fault] = c
	}
	var errs []error
	for _, l := range slices.SortedFunc(maps.Keys(changed), compareLinks) {
		errs = append(errs, w.settle(l))
	}
	return errors.Join(errs...)
}

func (w *wires) settle(l link) error {
	want := blend(w.wants[l])
	if want == w.now[l] && !w.doubt[l] {
		return nil
	}
	if err := w.target.Link(l.from, l.to, want); err != nil {
		w.doubt[l] = true
		return fmt.Errorf("link %s to %s: %w", l.from, l.to, err)
	}
	delete(w.doubt, l)
	w.now[l] = want
	return nil
}

func (w *wires) release(fault string) error { return w.set(fault, nil) }

// heal tells every link whose state is in doubt again.
func (w *wires) heal() error {
	w.lock <- struct{}{}
	defer func() { <-w.lock }()
	var errs []error
	for _, l := range slices.SortedFunc(maps.Keys(w.doubt), compareLinks) {
		errs = append(errs, w.settle(l))
	}
	return errors.Join(errs...)
}

func (w *wires) doubtful() bool {
	w.lock <- struct{}{}
	defer func() { <-w.lock }()
	return len(w.doubt) > 0
}

// cutOff says whether clients may not reach a node just now.
func (w *wires) cutOff(node string) bool {
	w.lock <- struct{}{}
	defer func() { <-w.lock }()
	return w.now[link{Client, node}] != Condition{} || w.now[link{node, Client}] != Condition{}
}

// faults are the names of all who want something.
func (w *wires) faults() map[string]bool {
	w.lock <- struct{}{}
	defer func() { <-w.lock }()
	names := make(map[string]bool)
	for _, wants := range w.wants {
		for name := range wants {
			names[name] = true
		}
	}
	return names
}

func compareLinks(a, b link) int {
	return slices.Compare([]string{a.from, a.to}, []string{b.from, b.to})
}

// between returns the condition for all links between the two groups, in both directions.
func between(a, b []string, c Condition) map[link]Condition {
	links := make(map[link]Condition)
	for _, x := range a {
		for _, y := range b {
			if x != y {
				links[link{x, y}], links[link{y, x}] = c, c
			}
		}
	}
	return links
}
