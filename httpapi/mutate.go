package httpapi

import (
	"context"
	"fmt"

	"github.com/leasehold/leasehold/cluster"
	"github.com/leasehold/leasehold/fsm"
)

// step is what a change wants done next. Without a command it is final: answer and nothing else.
type step struct {
	command *fsm.Command
	answer  func(result fsm.Result) (*response, error)
}

// final is a step that changes nothing: a no-op or a dry run.
func final(answer *response) (step, error) {
	return step{answer: func(fsm.Result) (*response, error) { return answer, nil }}, nil
}

// presentable lets a step pass, unless it would write an object that the client has no form for: a list's form was asked for.
// Found out when the answer is rendered, it would be told to a client whose write was done.
func (q *request) presentable(next step, err error) (step, error) {
	if err == nil && next.command != nil && len(next.command.Object) > 0 {
		err = q.form.Check(false)
	}
	return next, err
}

// mutate is the one loop behind update, patch and delete. change computes the next step from the present object (nil
// when there is none) and must have no effect of its own, since it may run several times.
//
// It begins with what this node happens to hold, which may be old. A proposal made from an old object does no harm:
// the log refuses it by revision and uid. Anything else (an error, a no-op, a dry run) would be told to the client as
// if it were true now, so it is thrown away and found again after a read barrier.
//
// A refusal says up to which revision the log had come; that is how far to wait before looking again. It was made
// after the request arrived, so what is seen from there on is as good as seen after a barrier. Never wait for a version that the
// client named: it may never come.
//
// The context's deadline is the command's.
func (s *server) mutate(ctx context.Context, key fsm.Key, change func(current *fsm.Object) (step, error)) (*response, error) {
	current := false // whether the local state is known to hold all that was acknowledged before the request arrived
	for {
		object := s.store.State().Get(key)
		next, err := change(object)
		if err != nil || next.command == nil {
			if !current {
				if err := s.store.Barrier(ctx); err != nil {
					return nil, err
				}
				current = true
				continue
			}
			if err != nil {
				return nil, err
			}
			return next.answer(fsm.Result{})
		}

		command := next.command
		command.Key = key
		if object != nil {
			command.Expect = fsm.Expect{Revision: object.Revision, UID: object.UID}
		}
		result, err := s.store.Propose(ctx, *command)
		if err != nil {
			return nil, err
		}
		switch result.Outcome {
		case fsm.Accepted:
			return next.answer(result)
		case fsm.Exists, fsm.Missing, fsm.Conflict:
			if err := s.store.WaitRevision(ctx, result.Revision); err != nil {
				// Refusals are definite: nothing of this request has been done.
				return nil, fmt.Errorf("%w: %v", cluster.ErrUnavailable, err)
			}
			current = true
		default: // Ended, Stale: an earlier copy of this command may have been applied
			return nil, cluster.ErrUnknownOutcome
		}
	}
}

// stored is the version that a command made. When the state still holds it, that very object is answered, so that it
// is rendered once for the writer and for all who watch.
func (s *server) stored(command *fsm.Command, result fsm.Result) *fsm.Object {
	if object := s.store.State().Get(command.Key); object != nil && object.Revision == result.Revision {
		return object
	}
	return &fsm.Object{Key: command.Key, UID: command.UID, Revision: result.Revision, Data: command.Object}
}
