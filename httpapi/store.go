package httpapi

import (
	"context"

	"github.com/leasehold/leasehold/fsm"
)

// Store is what the verbs need of a cluster node; *cluster.Node is one. Its methods keep the contracts written there.
type Store interface {
	Propose(ctx context.Context, command fsm.Command) (fsm.Result, error)
	Barrier(ctx context.Context) error
	WaitRevision(ctx context.Context, revision uint64) error
	State() *fsm.State
	History() *fsm.History
	Ready() error
	Serving() <-chan struct{}
}
