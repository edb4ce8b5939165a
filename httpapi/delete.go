package httpapi

import (
	"net/http"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/leasehold/leasehold/fsm"
	"github.com/leasehold/leasehold/httpapi/lease"
)

// delete removes a Lease, or marks it as deleted while finalizers hold it.
func (s *server) delete(q *request) (*response, error) {
	options, err := q.deleteOptions()
	if err != nil {
		return nil, err
	}
	ctx := s.commandContext(q)
	return s.mutate(ctx, q.key, func(current *fsm.Object) (step, error) {
		if current == nil {
			return step{}, notFound(q.key.Name)
		}
		if deletesUnreadable(options) {
			return step{}, conflict(q.key.Name, errReadable)
		}
		return s.remove(options, current)
	})
}

// remove is the step that deletes current as the options say.
func (s *server) remove(options *metav1.DeleteOptions, current *fsm.Object) (step, error) {
	present, err := leaseOf(current)
	if err != nil {
		return step{}, err
	}
	if err := checkPreconditions(present, options.Preconditions); err != nil {
		return step{}, err
	}
	next := lease.Delete(present, options, time.Now())
	dryRun := len(options.DryRun) > 0
	switch {
	case next == nil && dryRun:
		return final(deleted(current))
	case next == nil:
		return step{
			command: &fsm.Command{Op: fsm.OpDelete, Key: current.Key, UID: current.UID},
			answer:  func(fsm.Result) (*response, error) { return deleted(current), nil },
		}, nil
	case lease.Equal(next, present):
		return final(&response{code: marked(options), object: current})
	case dryRun:
		return final(&response{code: marked(options), value: next})
	}
	data, err := encode(next)
	if err != nil {
		return step{}, err
	}
	return s.made(&fsm.Command{Op: fsm.OpUpdate, Key: current.Key, UID: current.UID, Object: data}, marked(options)), nil
}

// checkPreconditions compares what a delete asks for with what is there.
func checkPreconditions(present *coordinationv1.Lease, wanted *metav1.Preconditions) error {
	if wanted == nil {
		return nil
	}
	if wanted.UID != nil && *wanted.UID != present.UID {
		return preconditionFailed(present.Name, "UID", string(*wanted.UID), string(present.UID),
			"The object might have been deleted and then recreated")
	}
	if wanted.ResourceVersion != nil && *wanted.ResourceVersion != present.ResourceVersion {
		return preconditionFailed(present.Name, "ResourceVersion", *wanted.ResourceVersion, present.ResourceVersion,
			"The object might have been modified")
	}
	return nil
}

// marked is the code of a delete that only marked: 202 to those who asked for a cascade, which has only begun.
func marked(options *metav1.DeleteOptions) int {
	//lint:ignore SA1019 clients still send it
	if orphan := options.OrphanDependents; orphan != nil && !*orphan {
		return http.StatusAccepted
	}
	return http.StatusOK
}

// deletesUnreadable tells whether the options ask to remove what cannot be read from the store, and only that.
func deletesUnreadable(options *metav1.DeleteOptions) bool {
	unsafe := options.IgnoreStoreReadErrorWithClusterBreakingPotential
	return unsafe != nil && *unsafe
}

// deleted is the answer to a delete that took effect at once.
func deleted(object *fsm.Object) *response {
	return &response{code: http.StatusOK, value: &metav1.Status{
		Status: metav1.StatusSuccess,
		Details: &metav1.StatusDetails{
			Name: object.Key.Name, Group: leaseResource.Group, Kind: leaseResource.Resource, UID: types.UID(object.UID),
		},
	}}
}
