package cluster

import (
	"context"
	"time"

	"github.com/hashicorp/raft"

	"github.com/leasehold/leasehold/fsm"
)

// term is a term in which this node leads and is ready: a command of its own, of this term, has been applied here.
type term struct {
	number uint64
	ctx    context.Context // ends with the leadership
}

// follow takes the news of who leads from Raft until ctx ends, and makes this node a leader when it is elected.
func (n *Node) follow(ctx context.Context, r *raft.Raft) {
	news := make(chan raft.Observation, 1024)
	observer := raft.NewObserver(news, false, func(o *raft.Observation) bool {
		switch o.Data.(type) {
		case raft.RaftState, raft.LeaderObservation:
			return true
		}
		return false
	})
	r.RegisterObserver(observer)
	defer r.DeregisterObserver(observer)

	resign := func() {}
	if r.State() == raft.Leader {
		resign = n.elected(ctx)
	}
	for {
		_, leader := r.LeaderWithID()
		n.leaders.news(string(leader))
		select {
		case <-ctx.Done():
			resign()
			return
		case o := <-news:
			if state, ok := o.Data.(raft.RaftState); ok {
				resign()
				resign = func() {}
				if state == raft.Leader {
					resign = n.elected(ctx)
				}
			}
		}
	}
}

// elected begins a leadership and returns what ends it.
func (n *Node) elected(ctx context.Context) (resign func()) {
	ctx, cancel := context.WithCancel(ctx)
	n.committer.set(holding)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			err := n.lead(ctx)
			if err == nil {
				return
			}
			n.logger.Warn("elected, but not ready to lead", "error", err)
			select {
			case <-ctx.Done():
			case <-time.After(5 * pause):
			}
		}
	}()
	return func() {
		cancel()
		<-done
		n.term.Store(nil)
		n.committer.set(refusing)
	}
}

// lead makes this node ready to lead. Until its own command has been applied here, entries of earlier terms may be
// missing from the machine though they were acknowledged; until the cluster is formed, nothing else may be in the log.
func (n *Node) lead(ctx context.Context) error {
	index, err := n.committer.own(ctx, fsm.Command{Op: fsm.OpReady})
	if err != nil {
		return err
	}
	var entry raft.Log
	if err := n.stores.log.GetLog(index, &entry); err != nil {
		return err
	}
	if _, formed := n.machine.Incarnation(n.config.ID); !formed {
		if err := n.form(ctx); err != nil {
			return err
		}
	}
	n.teller.start(ctx, entry.Term)
	n.term.Store(&term{number: entry.Term, ctx: ctx})
	n.committer.set(taking)
	n.teller.tell()
	n.logger.Info("leading", "term", entry.Term)
	return nil
}
