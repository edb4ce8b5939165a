package cluster

import "errors"

var (
	// ErrUnknownOutcome says that a proposal may or may not have been applied, now or later. It is neither failure
	// nor success.
	ErrUnknownOutcome = errors.New("outcome unknown: the change may or may not have been made")
	// ErrUnavailable says that nothing was done and the reason may pass: no leader was found in time, or no quorum
	// answered a read.
	ErrUnavailable = errors.New("no quorum of the cluster answered in time")
	// ErrOverloaded says that nothing was done because too much is waiting already.
	ErrOverloaded = errors.New("too many proposals are waiting")
	// ErrTooLarge says that nothing was done because the object does not fit into a log entry.
	ErrTooLarge = errors.New("object is larger than the log takes")
	// ErrNotVoter says that nothing was done because a node that should lead is no voting member.
	ErrNotVoter = errors.New("not a voting member of the cluster")
	// ErrClosed says that nothing was done because this node is stopping.
	ErrClosed = errors.New("node is stopping")
)
