package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/raft"

	"github.com/leasehold/leasehold/fsm"
)

// What the seeded faults (fsm/seeded) do here that takes more than a line. In a binary without them nobody calls it.

const (
	// slowMachine is how much longer than usual a batch takes to apply with the fault AppliedIndex. What was handed over
	// is otherwise applied within microseconds.
	slowMachine = 5 * time.Millisecond
	// impatience is after how long without an answer a node with the fault DoubleApply sends a proposal again.
	impatience = 50 * time.Millisecond
)

// verifiedByRaft is a read round as raft offers it.
func (n *Node) verifiedByRaft(ctx context.Context, index uint64) (uint64, error) {
	future := n.core().VerifyLeader()
	done := make(chan error, 1)
	go func() { done <- future.Error() }()
	select {
	case err := <-done:
		return index, err
	case <-ctx.Done():
		return 0, fmt.Errorf("leadership was not verified: %w", ErrUnavailable)
	}
}

// hasBeenElected tells whether raft has made this node the leader, ready or not.
func (n *Node) hasBeenElected() bool {
	r := n.core()
	return r != nil && r.State() == raft.Leader
}

// handedOver returns once raft has handed the entries up to index to the machine.
func (n *Node) handedOver(ctx context.Context, index uint64) error {
	for n.core().AppliedIndex() < index {
		select {
		case <-time.After(time.Millisecond / 2):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// dispatchUnawaited is dispatch with the answers given at once: those that the machine would give if nothing came
// between. Only one entry is on its way at a time, so that they are the right ones for as long as this node leads.
func (c *committer) dispatchUnawaited(groups []group) {
	type early struct {
		done    func(uint64, []fsm.Result, error)
		results []fsm.Result
	}
	var answers []early
	present := foresight{state: c.node.machine.State(), changed: make(map[fsm.Key]*fsm.Object)}
	present.revision = present.state.Revision()
	for i := range groups {
		if results, ok := present.group(&groups[i]); ok {
			answers = append(answers, early{groups[i].done, results})
			groups[i].done = func(uint64, []fsm.Result, error) {}
		}
	}
	c.dispatch(groups)
	for _, a := range answers {
		a.done(0, a.results, nil)
	}
}

// foresight is a state with what is about to be changed in it.
type foresight struct {
	state    *fsm.State
	revision uint64
	changed  map[fsm.Key]*fsm.Object // nil for what is deleted
}

// group returns what the machine will answer to object commands. Others are not foreseen.
func (f *foresight) group(g *group) (results []fsm.Result, ok bool) {
	for rest := g.payload; len(rest) > 0; {
		command, after, err := fsm.DecodeCommand(rest)
		if err != nil || command.Op > fsm.OpDelete {
			return nil, false
		}
		outcome := f.command(&command) // counts the revision
		results = append(results, fsm.Result{Outcome: outcome, Revision: f.revision})
		rest = after
	}
	return results, true
}

func (f *foresight) command(c *fsm.Command) fsm.Outcome {
	current, known := f.changed[c.Key]
	if !known {
		current = f.state.Get(c.Key)
	}
	switch {
	case c.Op == fsm.OpCreate && current != nil:
		return fsm.Exists
	case c.Op == fsm.OpCreate:
		current = &fsm.Object{UID: c.UID}
	case current == nil:
		return fsm.Missing
	case c.Expect.Revision != 0 && c.Expect.Revision != current.Revision, c.Expect.UID != "" && c.Expect.UID != current.UID:
		return fsm.Conflict
	}
	f.revision++
	if c.Op == fsm.OpDelete {
		f.changed[c.Key] = nil
	} else {
		f.changed[c.Key] = &fsm.Object{UID: current.UID, Revision: f.revision}
	}
	return fsm.Accepted
}
