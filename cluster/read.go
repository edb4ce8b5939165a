package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/raft"

	"github.com/leasehold/leasehold/fsm/seeded"
)

// roundTimeout is how long one attempt at a read index may take, on the leader and asked of the leader.
const roundTimeout = time.Second

// Barrier returns once State holds every change acknowledged anywhere before Barrier was called.
// Errors: ErrUnavailable, ErrClosed.
func (n *Node) Barrier(ctx context.Context) error {
	for {
		_, changed := n.leaders.view()
		attempt := n.barriers.join(nil)
		select {
		case <-attempt.done:
		case <-ctx.Done():
			return fmt.Errorf("read barrier: %w", ErrUnavailable)
		}
		if attempt.err == nil {
			return nil
		}
		retry := time.NewTimer(2 * pause)
		select {
		case <-changed:
		case <-retry.C:
		case <-n.ctx.Done():
			retry.Stop()
			return fmt.Errorf("read barrier: %w", ErrClosed)
		case <-ctx.Done():
			retry.Stop()
			return fmt.Errorf("read barrier: %w: %w", ErrUnavailable, attempt.err)
		}
		retry.Stop()
	}
}

// barrier learns an index from the leader and waits until this node's machine has it.
func (n *Node) barrier() (uint64, error) {
	ctx, cancel := context.WithTimeout(n.ctx, roundTimeout)
	defer cancel()
	current, changed := n.leaders.view()
	asking, giveUp := context.WithCancel(ctx)
	defer giveUp()
	go func() { // a leader that another has followed may never answer
		select {
		case <-changed:
			giveUp()
		case <-asking.Done():
		}
	}()
	index, err := n.readIndex(asking, current.leader)
	if err != nil {
		return 0, err
	}
	if seeded.AppliedIndex {
		return index, n.handedOver(ctx, index)
	}
	return index, n.machine.WaitIndex(ctx, index)
}

// readIndex returns an index that covers every change acknowledged before the call.
func (n *Node) readIndex(ctx context.Context, leader string) (uint64, error) {
	switch leader {
	case "":
		return 0, errNoLeader
	case n.config.ID:
		round := n.rounds.join(nil)
		select {
		case <-round.done:
			return round.index, round.err
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	return n.links.readIndex(ctx, leader)
}

// round is one read round of the leader. The order of its steps is what makes it a proof:
//
//   - This leader's ready command of term T has been applied here, so all that earlier leaders acknowledged is in the
//     machine's past, and what is acknowledged in T has an index at or below the commit index.
//   - Then the clock, the commit index and the members are read. The commit index and not the machine's: a follower may
//     have applied, and shown, what the machine here is about to apply.
//   - Then a majority of voters must have answered, in T and with success, requests sent after that time: so no majority
//     had left T at that time, and nobody had acknowledged what this leader does not know. raft.VerifyLeader also counts
//     answers to earlier requests, which proves nothing.
//   - This node counts itself only while it is still the leader of T, looked at last: its own vote for another leader
//     would otherwise be overlooked.
func (n *Node) round() (uint64, error) {
	term := n.term.Load()
	if seeded.ReadBeforeNoop && term == nil && n.hasBeenElected() {
		return n.core().CommitIndex(), nil
	}
	if term == nil {
		return 0, errNotLeader
	}
	r := n.core()
	start := time.Now()
	index := r.CommitIndex()
	voters := voterIDs(r.GetConfiguration().Configuration())

	ctx, cancel := context.WithTimeout(term.ctx, roundTimeout)
	defer cancel()
	if seeded.ReadVerifyLeader {
		return n.verifiedByRaft(ctx, index)
	}
	self := raft.ServerID(n.config.ID)
	var again *time.Timer
	for {
		acked := n.transport.ackChanged()
		if n.transport.quorumSince(term.number, start, voters, self) {
			break
		}
		if again == nil {
			n.teller.probe()
			again = time.NewTimer(n.config.ElectionTimeout / 10)
			defer again.Stop()
		}
		select {
		case <-acked:
		case <-again.C:
			n.teller.probe()
			again.Reset(n.config.ElectionTimeout / 10)
		case <-ctx.Done():
			return 0, fmt.Errorf("no majority answered the leader of term %d: %w", term.number, ErrUnavailable)
		}
	}
	if r.State() != raft.Leader || r.CurrentTerm() != term.number {
		return 0, errNotLeader
	}
	return index, nil
}

func voterIDs(configuration raft.Configuration) []raft.ServerID {
	voters := make([]raft.ServerID, 0, len(configuration.Servers))
	for _, server := range configuration.Servers {
		if server.Suffrage == raft.Voter {
			voters = append(voters, server.ID)
		}
	}
	return voters
}
