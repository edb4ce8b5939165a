package httpapi

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/leasehold/leasehold/fsm"
	"github.com/leasehold/leasehold/httpapi/object"
	"github.com/leasehold/leasehold/httpapi/wallclock"
)

// delete removes an object, or marks it as deleted while finalizers hold it.
func (s *server) delete(q *request) (*response, error) {
	options, err := q.deleteOptions()
	if err != nil {
		return nil, err
	}
	ctx := s.commandContext(q)
	return s.mutate(ctx, q.key, func(current *fsm.Object) (step, error) {
		if current == nil {
			return step{}, q.kind.notFound(q.key.Name)
		}
		if deletesUnreadable(options) {
			return step{}, readable(q)
		}
		return q.presentable(s.remove(q.kind, options, current))
	})
}

// remove is the step that deletes current as the options say.
func (s *server) remove(kind *kind, options *metav1.DeleteOptions, current *fsm.Object) (step, error) {
	present, err := kind.open(current)
	if err != nil {
		return step{}, err
	}
	if err := checkPreconditions(kind, present, options.Preconditions); err != nil {
		return step{}, err
	}
	shown, kept := object.Delete(present, options, wallclock.Now())
	code := marked(options)
	switch {
	case len(options.DryRun) > 0 && shown == nil:
		return final(deleted(kind, current))
	case len(options.DryRun) > 0, kept != nil && kind.equal(kept, present):
		return final(&response{code: code, value: shown})
	case shown == nil:
		return step{
			command: &fsm.Command{Op: fsm.OpDelete, Key: current.Key, UID: current.UID},
			answer:  func(fsm.Result) (*response, error) { return deleted(kind, current), nil },
		}, nil
	case kept == nil:
		return s.marking(fsm.OpDelete, current, shown, shown, code)
	}
	return s.marking(fsm.OpUpdate, current, kept, shown, code)
}

// marking is the step that writes an object as deleted, or removes it in this last state, and answers what is shown of it.
func (s *server) marking(op fsm.Op, current *fsm.Object, written, shown object.Object, code int) (step, error) {
	data, err := encode(written)
	if err != nil {
		return step{}, err
	}
	command := &fsm.Command{Op: op, Key: current.Key, UID: current.UID, Object: data}
	if written == shown {
		return s.made(command, code), nil
	}
	return step{command: command, answer: func(result fsm.Result) (*response, error) {
		shown.SetResourceVersion(version(result.Revision))
		return &response{code: code, value: shown}, nil
	}}, nil
}

// checkPreconditions compares what a delete asks for with what is there.
func checkPreconditions(kind *kind, present object.Object, wanted *metav1.Preconditions) error {
	if wanted == nil {
		return nil
	}
	if wanted.UID != nil && *wanted.UID != present.GetUID() {
		return kind.preconditionFailed(present.GetName(), "UID", string(*wanted.UID), string(present.GetUID()),
			"The object might have been deleted and then recreated")
	}
	if wanted.ResourceVersion != nil && *wanted.ResourceVersion != present.GetResourceVersion() {
		return kind.preconditionFailed(present.GetName(), "ResourceVersion", *wanted.ResourceVersion, present.GetResourceVersion(),
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
func deleted(kind *kind, gone *fsm.Object) *response {
	return &response{code: http.StatusOK, value: &metav1.Status{
		Status: metav1.StatusSuccess,
		Details: &metav1.StatusDetails{
			Name: gone.Key.Name, Group: kind.Group, Kind: kind.resource.Resource, UID: types.UID(gone.UID),
		},
	}}
}
