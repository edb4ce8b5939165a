package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hashicorp/raft"
)

// TransferLeadership makes another voter the leader: the one called to, or for "" the one whose log is furthest. Every
// node takes it, and passes it on to the leader. It returns who leads afterwards, as this node knows it. Where to leads
// already nothing is done.
//
// Errors: ErrNotVoter, ErrUnavailable (nobody leads, or the leader still does), ErrClosed, ErrUnknownOutcome (it may
// still come to pass).
func (n *Node) TransferLeadership(ctx context.Context, to string) (leader string, err error) {
	leader, err = n.transferLeadership(ctx, to)
	if err != nil {
		return "", fmt.Errorf("transfer leadership: %w", err)
	}
	return leader, nil
}

func (n *Node) transferLeadership(ctx context.Context, to string) (leader string, err error) {
	former, _ := n.leaders.view()
	r := n.core()
	switch {
	case n.ctx.Err() != nil:
		return "", ErrClosed
	case former.leader == "" || r == nil:
		return "", fmt.Errorf("%w: %w", ErrUnavailable, errNoLeader)
	case former.leader == to:
		return to, nil
	case to != "" && !slices.Contains(voterIDs(r.GetConfiguration().Configuration()), raft.ServerID(to)):
		return "", fmt.Errorf("%s: %w", to, ErrNotVoter)
	}
	if former.leader == n.config.ID {
		err = n.transfer(ctx, to)
	} else {
		err = n.links.transfer(ctx, former.leader, to)
	}
	switch {
	case isNotApplied(err):
		return "", fmt.Errorf("%w: %w", ErrUnavailable, err)
	case err != nil:
		return "", fmt.Errorf("%w: %w", ErrUnknownOutcome, err)
	}
	return n.successor(ctx, former, to)
}

// transfer makes this node, if it leads, give the leadership to another voter and waits until it has lost it. The error
// wraps errNotApplied if it has not, and errUncertain if ctx ended first.
func (n *Node) transfer(ctx context.Context, to string) error {
	r := n.core()
	if r == nil {
		return fmt.Errorf("%w: %w", errNotApplied, errNotLeader)
	}
	var future raft.Future
	if to == "" {
		future = r.LeadershipTransfer()
	} else {
		future = r.LeadershipTransferToServer(raft.ServerID(to), raft.ServerAddress(to))
	}
	done := make(chan error, 1)
	go func() { done <- future.Error() }()
	select {
	case err := <-done:
		if err != nil {
			return fmt.Errorf("%w: %w", errNotApplied, err)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", errUncertain, ctx.Err())
	}
}

// successor waits for news of who leads after the former leader.
func (n *Node) successor(ctx context.Context, former view, to string) (leader string, err error) {
	for {
		current, changed := n.leaders.view()
		switch {
		case current.epoch == former.epoch || current.leader == "":
		case current.leader == former.leader:
			return "", fmt.Errorf("%w: %s was elected again", ErrUnavailable, current.leader)
		case to != "" && current.leader != to:
			return "", fmt.Errorf("%w: %s was elected, not %s", ErrUnavailable, current.leader, to)
		default:
			return current.leader, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return "", fmt.Errorf("%w: the leader has resigned, and another is not known yet", ErrUnknownOutcome)
		case <-n.ctx.Done():
			return "", ErrClosed
		}
	}
}

// handOver gives the leadership to another voter, if this node has it and there is one. It returns when another leader
// is known or ctx ends.
func (n *Node) handOver(ctx context.Context) {
	r := n.core()
	if ctx.Err() != nil || r == nil || r.State() != raft.Leader || len(voterIDs(r.GetConfiguration().Configuration())) < 2 {
		return
	}
	if err := n.transfer(ctx, ""); err != nil && ctx.Err() == nil && !errors.Is(err, raft.ErrNotLeader) {
		n.logger.Warn("leadership was not handed over", "error", err)
	}
}
