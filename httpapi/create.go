package httpapi

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/leasehold/leasehold/cluster"
	"github.com/leasehold/leasehold/fsm"
	"github.com/leasehold/leasehold/httpapi/fieldmanager"
	"github.com/leasehold/leasehold/httpapi/lease"
)

// maxGenerated is how many names are tried for one generateName before the client hears that all were taken.
const maxGenerated = 8

// errVersionOnCreate is told as 500, as kube-apiserver tells it.
var errVersionOnCreate = errors.New("resourceVersion should not be set on objects to be created")

// create consults no local state: the log decides whether the name is free.
func (s *server) create(q *request) (*response, error) {
	options, err := q.writeOptions("CreateOptions")
	if err != nil {
		return nil, err
	}
	sent, err := decodeLease(q, options)
	if err != nil {
		return nil, err
	}
	if err := q.inNamespace(sent); err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		next := sent
		if sent.Name == "" && sent.GenerateName != "" {
			next = sent.DeepCopy()
		}
		if err := s.prepareCreate(q, options, next); err != nil {
			return nil, err
		}
		if version, err := strconv.ParseUint(next.ResourceVersion, 10, 64); err == nil && version != 0 {
			return nil, errVersionOnCreate
		}
		answer, err := s.insert(q, options, next)
		if !errors.Is(err, errExists) {
			return answer, err
		}
		if next == sent || attempt == maxGenerated {
			return nil, alreadyExists(next.Name)
		}
	}
}

// errExists is an insert under a name that is taken.
var errExists = errors.New("the name is taken")

// insert proposes a first version.
func (s *server) insert(q *request, options *metav1.PatchOptions, next *coordinationv1.Lease) (*response, error) {
	ctx := s.commandContext(q)
	command, err := createCommand(next)
	if err != nil {
		return nil, err
	}
	if len(options.DryRun) > 0 {
		if err := s.store.Barrier(ctx); err != nil {
			return nil, err
		}
		if s.store.State().Get(command.Key) != nil {
			return nil, errExists
		}
		return &response{code: http.StatusCreated, value: next}, nil
	}
	result, err := s.store.Propose(ctx, *command)
	if err != nil {
		return nil, err
	}
	switch result.Outcome {
	case fsm.Accepted:
		return &response{code: http.StatusCreated, object: s.stored(command, result)}, nil
	case fsm.Exists:
		return nil, errExists
	default: // Ended, Stale: an earlier copy of this command may have been applied
		return nil, cluster.ErrUnknownOutcome
	}
}

// inNamespace sees to it that a body is about the namespace of the path. Namespaces are implicit: each exists.
func (q *request) inNamespace(next *coordinationv1.Lease) error {
	if next.Namespace == "" {
		next.Namespace = q.key.Namespace
	}
	if next.Namespace != q.key.Namespace {
		return badRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	return nil
}

// prepareCreate makes of what a client sent the first version of an object, or says why it is none.
func (s *server) prepareCreate(q *request, options *metav1.PatchOptions, next *coordinationv1.Lease) error {
	now := time.Now()
	if err := fieldmanager.Fits(next); err != nil {
		return err
	}
	for _, warning := range lease.DropDuplicateOwners(next) {
		q.warn(warning)
	}
	lease.WipeSystemFields(next)
	s.fields.Update(nil, next, q.manager(options), now)
	return complete(next, now)
}

// complete gives a first version what only the server gives, and validates it.
func complete(next *coordinationv1.Lease, now time.Time) error {
	if len(validation.IsDNS1123Label(next.Namespace)) > 0 {
		return noSuchNamespace(next.Namespace)
	}
	lease.PrepareCreate(next, now, types.UID(uuid.NewString()))
	if found := lease.ValidateCreate(next); len(found) > 0 {
		return invalid(next.Name, found)
	}
	return nil
}

// createCommand stores next, whose resourceVersion is dropped: it has none yet.
func createCommand(next *coordinationv1.Lease) (*fsm.Command, error) {
	next.ResourceVersion = ""
	data, err := encode(next)
	if err != nil {
		return nil, err
	}
	key := fsm.Key{Resource: "leases", Namespace: next.Namespace, Name: next.Name}
	return &fsm.Command{Op: fsm.OpCreate, Key: key, UID: string(next.UID), Object: data}, nil
}
