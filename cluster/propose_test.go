package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/fsm"
)

// A node that lags behind is answered by the leader all the same. What waits for its own machine then is bounded too.
func TestAnswersThatThisNodeHasNotReachedAreBounded(t *testing.T) {
	const limit = 3
	n := &Node{machine: fsm.New(fsm.Options{}), config: Config{MaxWaitingCommands: limit}.withDefaults()}
	r := newProposer(n)
	r.session.open = true
	for range limit {
		require.NoError(t, r.add(&proposal{command: fsm.Command{Op: fsm.OpCreate}, done: make(chan struct{})}))
		f := r.group(view{}, time.Now())
		r.encode(f)
		r.land(f, []fsm.Result{{Outcome: fsm.Accepted, Revision: n.State().Revision() + 1}}, nil)
	}
	require.ErrorIs(t, r.add(&proposal{done: make(chan struct{})}), ErrOverloaded)
}
