package httpapi

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasehold/leasehold/fsm"
	"github.com/leasehold/leasehold/fsm/seeded"
)

// versionWait is how long a read waits for a version that is not there yet.
const versionWait = 3 * time.Second

// parseVersion reads a resourceVersion; none is 0. What a client is told if it is no number depends on the verb.
func parseVersion(given string) (uint64, error) {
	if given == "" {
		return 0, nil
	}
	revision, err := strconv.ParseUint(given, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("resourceVersion: Invalid value: %q: %w", given, err)
	}
	return revision, nil
}

// newest returns the state with all that was acknowledged before now. A node that is cut off answers an error by the
// deadline that holds for commands too: its barrier would wait as long as it is let.
func (s *server) newest() (*fsm.State, error) {
	if seeded.ReadLocal {
		return s.store.State(), nil
	}
	ctx := s.deadlines.until(time.Now().Add(s.config.Deadline))
	if err := s.store.Barrier(ctx); err != nil {
		return nil, err
	}
	return s.store.State(), nil
}

// notOlder returns a state at revision or later, for which it waits a little.
func (s *server) notOlder(ctx context.Context, revision uint64) (*fsm.State, error) {
	state := s.store.State()
	if state.Revision() >= revision {
		return state, nil
	}
	waiting, cancel := context.WithTimeout(ctx, versionWait)
	defer cancel()
	err := s.store.WaitRevision(waiting, revision)
	switch {
	case err == nil:
		return s.store.State(), nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return nil, tooLarge(revision, s.store.State().Revision())
	}
	return nil, err
}

// exactly returns the state as it was at revision.
func (s *server) exactly(ctx context.Context, revision uint64) (*fsm.State, error) {
	if _, err := s.notOlder(ctx, revision); err != nil {
		return nil, err
	}
	return s.store.History().At(revision)
}

// tooLarge is a version that has not come in time: here a node that lags, or a client that saw another cluster.
func tooLarge(revision, current uint64) error {
	err := apierrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", revision, current), 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{
		Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version",
	}}
	return err
}
