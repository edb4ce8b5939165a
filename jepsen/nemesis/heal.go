package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	tendEvery = time.Second      // between two looks for dead nodes
	silence   = 10 * time.Second // of a node that should run, after which it is taken for dead, where nobody can say
	healTime  = 2 * time.Minute  // for everything
	readyTry  = 20 * time.Second // of a node after healing, before it is started again
	readyTryN = 3
)

// tend starts nodes again that ended by themselves, as a supervisor would.
func (n *Nemesis) tend(ctx context.Context) {
	for {
		sleep(ctx, tendEvery)
		if ctx.Err() != nil {
			return
		}
		for _, node := range n.ward.nodes {
			c, claimed := n.ward.claimed(node)
			if claimed && !c.again || !n.looksDead(node) {
				continue
			}
			n.revive(ctx, node, !claimed)
		}
	}
}

// looksDead says whether a node that should run does not.
func (n *Nemesis) looksDead(node string) bool {
	want := n.ward.wanted(node)
	if want.down || want.paused {
		return false
	}
	if census, ok := n.ward.target.(Census); ok {
		return !census.Alive(node)
	}
	recent := n.observer.since(time.Now().Add(-silence))
	recent = slices.DeleteFunc(recent, func(o observation) bool { return o.node != node })
	answered := slices.ContainsFunc(recent, func(o observation) bool { return o.err == nil })
	return len(recent) >= int(silence/lookTime)/2 && !answered && !n.ward.links.cutOff(node)
}

// revive starts a node again. It tells of it where that is news.
func (n *Nemesis) revive(ctx context.Context, node string, news bool) {
	done, err := n.ward.revive(ctx, node)
	switch {
	case !news:
	case err != nil:
		n.hooks.Notice(fmt.Sprintf("%s has ended by itself and does not start: %s", node, err))
	case done:
		n.mu.Lock()
		n.revived[node]++
		n.mu.Unlock()
		n.hooks.Notice(node + " had ended by itself and was started again")
	}
}

// Revived tells how often each node was started again that had ended by itself.
func (n *Nemesis) Revived() map[string]int {
	n.mu.Lock()
	defer n.mu.Unlock()
	revived := make(map[string]int)
	for node, times := range n.revived {
		revived[node] = times
	}
	return revived
}

// Heal ends every fault, sets everything right, starts what is down, and waits until every node is ready but those that are left
// out. It goes on when ctx is cancelled. What it could not heal is the error.
func (n *Nemesis) Heal(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), healTime)
	defer cancel()
	var errs []error
	for _, fault := range n.ward.faults() {
		if err := n.ward.release(ctx, fault); err != nil {
			errs = append(errs, fmt.Errorf("heal %s: %w", fault, err))
		}
	}
	if n.ward.doubtful() {
		errs = nil // those were tried once; what counts is what the second try cannot do
		errs = append(errs, n.ward.links.heal())
		for _, node := range n.ward.nodes {
			errs = append(errs, n.ward.settle(ctx, node))
		}
	}
	results := make([]error, len(n.ward.nodes))
	var all sync.WaitGroup
	for i, node := range n.ward.nodes {
		all.Go(func() { results[i] = n.recover(ctx, node) })
	}
	all.Wait()
	if err := errors.Join(append(errs, results...)...); err != nil {
		return fmt.Errorf("the cluster could not be healed: %w", err)
	}
	return nil
}

// recover waits until a node is ready, and starts it again if that takes too long.
func (n *Nemesis) recover(ctx context.Context, node string) error {
	if _, out := n.ward.outcasts()[node]; out {
		return nil
	}
	for try := range readyTryN {
		if n.looksDead(node) {
			n.revive(ctx, node, true)
		}
		if n.observer.awaitReady(ctx, node, readyTry) {
			return nil
		}
		if try < readyTryN-1 {
			n.revive(ctx, node, true)
		}
	}
	last, _ := n.observer.last(node)
	if last.err != nil {
		return fmt.Errorf("%s does not answer: %w", node, last.err)
	}
	return fmt.Errorf("%s is %s in term %d and not ready", node, last.sample.Role, last.sample.Term)
}

// doubtful says whether a call failed whose outcome matters still.
func (w *ward) doubtful() bool {
	doubt := w.links.doubtful()
	for _, node := range w.nodes {
		unlock := w.lock([]string{node})
		doubt = doubt || w.states[node].doubt
		unlock()
	}
	return doubt
}
