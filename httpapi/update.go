package httpapi

import (
	"net/http"
	"strconv"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasehold/leasehold/fsm"
)

// update replaces a Lease, or creates it when the name is free. The version it was made from must be told.
func (s *server) update(q *request) (*response, error) {
	options, err := q.writeOptions("UpdateOptions")
	if err != nil {
		return nil, err
	}
	next, err := decodeLease(q, options)
	if err != nil {
		return nil, err
	}
	if next.Name != q.key.Name {
		return nil, badRequest("the name of the object (%s) does not match the name on the URL (%s)", next.Name, q.key.Name)
	}
	if next.Namespace == "" {
		next.Namespace = q.key.Namespace
	}
	if next.Namespace != q.key.Namespace {
		return nil, badRequest("the namespace of the object (%s) does not match the namespace on the URL (%s)", next.Namespace, q.key.Namespace)
	}
	return s.mutate(q, func(current *fsm.Object) (step, error) {
		if current == nil {
			next := next.DeepCopy()
			if err := s.prepareCreate(q, options, next); err != nil {
				return step{}, err
			}
			command, err := createCommand(q.key, next)
			return s.made(command, http.StatusCreated), err
		}
		return s.replace(q, options, current, next.DeepCopy())
	})
}

// replace makes next the version after current. next is its own to change.
func (s *server) replace(q *request, options *metav1.PatchOptions, current *fsm.Object, next *coordinationv1.Lease) (step, error) {
	version, err := strconv.ParseUint(next.ResourceVersion, 10, 64)
	switch {
	case next.ResourceVersion == "" || (err == nil && version == 0):
		return step{}, versionRequired(q.key.Name)
	case err != nil:
		return step{}, err
	case version != current.Revision:
		return step{}, conflict(q.key.Name, errModified)
	}
	present, err := leaseOf(current)
	if err != nil {
		return step{}, err
	}
	next.UID, next.CreationTimestamp = present.UID, present.CreationTimestamp
	data, err := encodeLease(next)
	if err != nil {
		return step{}, err
	}
	return s.made(&fsm.Command{Op: fsm.OpUpdate, UID: current.UID, Object: data}, http.StatusOK), nil
}

// made is the step that makes a new version and answers it.
func (s *server) made(command *fsm.Command, code int) step {
	return step{command: command, answer: func(result fsm.Result) (*response, error) {
		return &response{code: code, object: s.stored(command, result)}, nil
	}}
}
