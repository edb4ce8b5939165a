package cluster

import (
	"context"

	"github.com/hashicorp/raft"

	"github.com/leasehold/leasehold/fsm"
)

// Raft is what tests need to show what the library alone would do.
func (n *Node) Raft() *raft.Raft { return n.core() }

// Campaign makes the node called id, which need not be this one, start an election at once.
func (n *Node) Campaign(id string) error {
	var resp raft.TimeoutNowResponse
	req := raft.TimeoutNowRequest{RPCHeader: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax}}
	return n.transport.TimeoutNow(raft.ServerID(id), raft.ServerAddress(id), &req, &resp)
}

// RoundRunning reports whether a read round of this leader is under way.
func (n *Node) RoundRunning() bool {
	n.rounds.mu.Lock()
	defer n.rounds.mu.Unlock()
	return n.rounds.running > 0
}

// Commit puts a command of the machine itself into the log, on a leader that is ready.
func (n *Node) Commit(ctx context.Context, command fsm.Command) error {
	_, err := n.committer.own(ctx, command)
	return err
}

// Session is the ID under which this node proposes, or is about to.
func (n *Node) Session() fsm.SessionID {
	n.proposer.mu.Lock()
	defer n.proposer.mu.Unlock()
	return n.proposer.session.id
}
