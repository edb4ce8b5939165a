package httpapi

import (
	"context"
	"errors"
	"math"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/leasehold/leasehold/fsm"
)

// collectionWorkers is how many deletions of one request are on their way at a time: they share entries of the log.
const collectionWorkers = 16

// collectionPage is the limit of a deletion that names none. kube-apiserver goes through a collection in pages of its own,
// and a version beside a limit means the state exactly as it was then; here one page holds all.
const collectionPage = math.MaxInt64

// deleteCollection deletes what a list with the same query would show, one by one, and answers that list: each object
// as it was before. What has gone meanwhile is no error; the first other failure ends it half done.
func (s *server) deleteCollection(q *request) (*response, error) {
	selection, err := s.listOptions(q)
	if err != nil {
		return nil, err
	}
	options, err := q.deleteOptions()
	if err != nil {
		return nil, err
	}
	if deletesUnreadable(options) {
		return nil, invalidOptions("DeleteOptions", field.ErrorList{field.Invalid(
			field.NewPath("ignoreStoreReadErrorWithClusterBreakingPotential"), true, "is not allowed with DELETECOLLECTION, try again after removing the option")})
	}
	ctx, cancel := context.WithDeadline(q.context(), s.deadline(q))
	defer cancel()
	if selection.Limit == 0 {
		selection.Limit = collectionPage
	}
	objects, meta, err := s.page(ctx, selection)
	if err != nil {
		return nil, err
	}
	if err := q.form.Check(true); err != nil { // as presentable
		return nil, err
	}
	workers, going := errgroup.WithContext(ctx)
	workers.SetLimit(collectionWorkers)
	if options.Preconditions != nil { // which some objects may fail: those before them are deleted, those after are not
		workers.SetLimit(1)
	}
	for _, object := range objects {
		if going.Err() != nil {
			break
		}
		workers.Go(func() error { return s.deleteOne(going, q.kind, object.Key, options) })
	}
	if err := workers.Wait(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return s.shown(q, objects, meta)
}

// deleteOne deletes one object of a collection.
func (s *server) deleteOne(ctx context.Context, kind *kind, key fsm.Key, options *metav1.DeleteOptions) error {
	ctx, cancel := context.WithTimeout(ctx, s.config.Deadline)
	defer cancel()
	_, err := s.mutate(ctx, key, func(current *fsm.Object) (step, error) {
		if current == nil {
			return step{}, kind.notFound(key.Name)
		}
		return s.remove(kind, options, current)
	})
	if errors.Is(err, context.Canceled) || apierrors.IsNotFound(err) {
		return nil // another deletion has failed and is told of; or this one is not needed any more
	}
	return err
}
