package httpapi

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/leasehold/leasehold/fsm"
)

// collectionWorkers is how many deletions of one request are on their way at a time: they share entries of the log.
const collectionWorkers = 16

// deleteCollection deletes what a list with the same query would show, one by one, and answers that list: each object
// as it was before. What has gone meanwhile is no error; the first other failure ends it half done.
func (s *server) deleteCollection(q *request) (*response, error) {
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
	objects, meta, err := s.selected(ctx, q)
	if err != nil {
		return nil, err
	}
	if err := q.form.Check(true); err != nil { // as presentable
		return nil, err
	}
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(collectionWorkers)
	for _, object := range objects {
		workers.Go(func() error { return s.deleteOne(ctx, q.kind, object.Key, options) })
	}
	if err := workers.Wait(); err != nil {
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

// selected lists what the query selects, and says where it goes on.
func (s *server) selected(ctx context.Context, q *request) ([]*fsm.Object, metav1.ListMeta, error) {
	selection, err := s.listOptions(q)
	if err != nil {
		return nil, metav1.ListMeta{}, err
	}
	return s.page(ctx, selection)
}
