package cluster

import (
	"context"
	"time"

	"github.com/leasehold/leasehold/fsm"
)

// Node is one member of the cluster.
type Node struct{}

// Propose gets an object command into the log exactly once and returns what the log made of it, definite in either
// way. It fills in Session, Seq and Mark. It works on every node, retries in silence through changes of leader until
// ctx ends, and returns once this node's own machine has applied the result too (or ctx has ended meanwhile: the
// result then still is definite).
//
// Errors: ErrUnknownOutcome, ErrUnavailable, ErrOverloaded, ErrTooLarge, ErrClosed.
func (n *Node) Propose(ctx context.Context, command fsm.Command) (fsm.Result, error) {
	return fsm.Result{}, ErrUnavailable
}

// Barrier returns once State holds every change acknowledged anywhere before Barrier was called.
// Errors: ErrUnavailable, ErrClosed.
func (n *Node) Barrier(ctx context.Context) error { return ErrUnavailable }

// WaitRevision returns once this node's state has reached revision, or with the context's error.
func (n *Node) WaitRevision(ctx context.Context, revision uint64) error { return ErrUnavailable }

// State returns this node's newest state, which may lag behind the cluster's.
func (n *Node) State() *fsm.State { return nil }

// History returns this node's window of changes.
func (n *Node) History() *fsm.History { return nil }

// Ready returns nil while a read barrier has succeeded within the last 5 s, and else the reason why not.
func (n *Node) Ready() error { return ErrUnavailable }

// Serving returns a channel that is closed when this node stops being ready: watches end with it. A node that is not
// ready returns a closed channel.
func (n *Node) Serving() <-chan struct{} { return nil }

// Status describes this node, for operators.
func (n *Node) Status() Status { return Status{} }

// Close hands leadership over, stops all goroutines of the node and closes its stores, in that order.
func (n *Node) Close(ctx context.Context) error { return nil }

// Status is what one node knows of itself.
type Status struct {
	ID            string        `json:"id"`
	Role          string        `json:"role"`   // leader, follower, candidate or stopped
	Leader        string        `json:"leader"` // ID of the leader, "" when none is known
	Term          uint64        `json:"term"`
	Revision      uint64        `json:"revision"`
	CommitIndex   uint64        `json:"commitIndex"`
	AppliedIndex  uint64        `json:"appliedIndex"`
	LastIndex     uint64        `json:"lastIndex"`
	SnapshotIndex uint64        `json:"snapshotIndex"`
	Objects       int           `json:"objects"`
	HashIndex     uint64        `json:"hashIndex"` // applied index for which Hash was computed
	Hash          string        `json:"hash"`
	LastContact   time.Duration `json:"lastContact"` // since the leader was heard of; 0 on the leader
	Ready         bool          `json:"ready"`
	NotReady      string        `json:"notReady,omitempty"` // why Ready is false
	Members       []Member      `json:"members"`
}

// Member is one entry of the cluster's configuration.
type Member struct {
	ID      string `json:"id"`
	Address string `json:"address"` // host:port of its peer port
	Voter   bool   `json:"voter"`
}
