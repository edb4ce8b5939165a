package httpapi

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/leasehold/leasehold/cluster"
	"github.com/leasehold/leasehold/fsm"
	"github.com/leasehold/leasehold/httpapi/fieldmanager"
	"github.com/leasehold/leasehold/httpapi/object"
	"github.com/leasehold/leasehold/httpapi/wallclock"
)

// maxGenerated is how many names are tried for one generateName before the client hears that all were taken.
const maxGenerated = 8

// errVersionOnCreate is told as 500, as kube-apiserver tells it. A dry run does not come so far, and answers the version.
var errVersionOnCreate = errors.New("resourceVersion should not be set on objects to be created")

// create consults no local state: the log decides whether the name is free.
func (s *server) create(q *request) (*response, error) {
	options, err := q.writeOptions("CreateOptions")
	if err != nil {
		return nil, err
	}
	sent, err := decodeObject(q, options)
	if err != nil {
		return nil, err
	}
	if err := q.inNamespace(sent); err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		next := sent
		if sent.GetName() == "" && sent.GetGenerateName() != "" {
			next = object.Copy(sent)
		}
		if err := s.prepareCreate(q, options, next); err != nil {
			return nil, err
		}
		if version, err := strconv.ParseUint(next.GetResourceVersion(), 10, 64); err == nil && version != 0 && len(options.DryRun) == 0 {
			return nil, errVersionOnCreate
		}
		answer, err := s.insert(q, options, next)
		if !errors.Is(err, errExists) {
			return answer, err
		}
		if next == sent || attempt == maxGenerated {
			return nil, q.kind.alreadyExists(next.GetName())
		}
	}
}

// errExists is an insert under a name that is taken.
var errExists = errors.New("the name is taken")

// insert proposes a first version.
func (s *server) insert(q *request, options *metav1.PatchOptions, next object.Object) (*response, error) {
	if err := q.form.Check(false); err != nil { // as presentable
		return nil, err
	}
	ctx := s.commandContext(q)
	if len(options.DryRun) > 0 {
		if err := s.store.Barrier(ctx); err != nil {
			return nil, err
		}
		if s.store.State().Get(q.kind.key(next.GetNamespace(), next.GetName())) != nil {
			return nil, errExists
		}
		return &response{code: http.StatusCreated, value: next}, nil
	}
	command, err := createCommand(q.kind, next)
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
		return nil, errExists
	default: // Ended, Stale: an earlier copy of this command may have been applied
		return nil, cluster.ErrUnknownOutcome
	}
}

// inNamespace sees to it that a body is about the namespace of the path. Namespaces are implicit: each exists.
func (q *request) inNamespace(next object.Object) error {
	if next.GetNamespace() == "" {
		next.SetNamespace(q.key.Namespace)
	}
	if next.GetNamespace() != q.key.Namespace {
		return badRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	return nil
}

// prepareCreate makes of what a client sent the first version of an object, or says why it is none.
func (s *server) prepareCreate(q *request, options *metav1.PatchOptions, next object.Object) error {
	now := wallclock.Now()
	if err := fieldmanager.Fits(next); err != nil {
		return err
	}
	for _, warning := range object.DropDuplicateOwners(object.Meta(next), false) {
		q.warn(warning)
	}
	object.WipeSystemFields(object.Meta(next))
	q.kind.fields.Update(nil, next, q.manager(options), now)
	return complete(q.kind, next, now)
}

// complete gives a first version what only the server gives, and validates it.
func complete(kind *kind, next object.Object, now time.Time) error {
	if len(validation.IsDNS1123Label(next.GetNamespace())) > 0 {
		return noSuchNamespace(next.GetNamespace())
	}
	object.PrepareCreate(object.Meta(next), now, types.UID(uuid.NewString()))
	if found := kind.validateCreate(next); len(found) > 0 {
		return kind.invalid(next.GetName(), found)
	}
	return nil
}

// createCommand stores next, whose resourceVersion is dropped: it has none yet.
func createCommand(kind *kind, next object.Object) (*fsm.Command, error) {
	next.SetResourceVersion("")
	data, err := encode(next)
	if err != nil {
		return nil, err
	}
	key := kind.key(next.GetNamespace(), next.GetName())
	return &fsm.Command{Op: fsm.OpCreate, Key: key, UID: string(next.GetUID()), Object: data}, nil
}
