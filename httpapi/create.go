package httpapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/google/uuid"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/leasehold/leasehold/cluster"
	"github.com/leasehold/leasehold/fsm"
)

// create consults no local state: the log decides whether the name is free.
func (s *server) create(q *request) (*response, error) {
	options, err := q.writeOptions("CreateOptions")
	if err != nil {
		return nil, err
	}
	next, err := decodeLease(q, options)
	if err != nil {
		return nil, err
	}
	if next.ResourceVersion != "" {
		return nil, errors.New("resourceVersion should not be set on objects to be created")
	}
	if err := s.prepareCreate(q, options, next); err != nil {
		return nil, err
	}
	key := fsm.Key{Resource: "leases", Namespace: next.Namespace, Name: next.Name}

	ctx, cancel := context.WithDeadline(q.context(), s.deadline(q))
	defer cancel()
	command, err := createCommand(key, next)
	if err != nil {
		return nil, err
	}
	result, err := s.store.Propose(ctx, *command)
	if err != nil {
		return nil, err
	}
	switch result.Outcome {
	case fsm.Accepted:
		return &response{code: http.StatusCreated, object: s.stored(command, result)}, nil
	case fsm.Exists:
		return nil, alreadyExists(next.Name)
	default:
		return nil, cluster.ErrUnknownOutcome
	}
}

// prepareCreate makes of what a client sent the first version of an object, or says why it is none.
func (s *server) prepareCreate(q *request, options *metav1.PatchOptions, next *coordinationv1.Lease) error {
	if next.Namespace == "" {
		next.Namespace = q.key.Namespace
	}
	if next.Namespace != q.key.Namespace {
		return badRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	next.UID = types.UID(uuid.NewString())
	next.CreationTimestamp = metav1.NewTime(time.Now().UTC().Truncate(time.Second))
	next.DeletionTimestamp, next.DeletionGracePeriodSeconds, next.SelfLink = nil, nil, ""
	return nil
}

func createCommand(key fsm.Key, next *coordinationv1.Lease) (*fsm.Command, error) {
	data, err := encodeLease(next)
	if err != nil {
		return nil, err
	}
	return &fsm.Command{Op: fsm.OpCreate, Key: key, UID: string(next.UID), Object: data}, nil
}

// encodeLease makes what is stored of a Lease: its revision stands beside it, not in it.
func encodeLease(lease *coordinationv1.Lease) ([]byte, error) {
	version := lease.ResourceVersion
	lease.ResourceVersion = ""
	data, err := lease.Marshal()
	lease.ResourceVersion = version
	return data, err
}
