package httpapi

import (
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasehold/leasehold/fsm"
	"github.com/leasehold/leasehold/httpapi/fieldmanager"
	"github.com/leasehold/leasehold/httpapi/object"
	"github.com/leasehold/leasehold/httpapi/wallclock"
)

// update replaces an object, or creates it when the name is free. Over one that exists the version it was made from must
// be told; over none any version does, but a uid does not.
func (s *server) update(q *request) (*response, error) {
	options, err := q.writeOptions("UpdateOptions")
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
	if err := q.isNamed(sent); err != nil {
		return nil, err
	}
	if err := fieldmanager.Fits(sent); err != nil {
		return nil, err
	}
	turn := 0
	ctx := s.commandContext(q)
	return s.mutate(ctx, q.key, func(current *fsm.Object) (step, error) {
		next := sent
		if turn++; turn > 1 { // the first turn has changed what was sent
			if next, err = decodeObject(q, options); err != nil {
				return step{}, err
			}
			next.SetNamespace(q.key.Namespace)
		}
		if current == nil {
			return q.presentable(s.updateMissing(q, options, next))
		}
		if uid := string(next.GetUID()); uid != "" && uid != current.UID {
			return step{}, wrongUID(q, uid, current.UID)
		}
		present, err := q.kind.open(current)
		if err != nil {
			return step{}, err
		}
		for _, warning := range object.DropDuplicateOwners(object.Meta(next), false) {
			q.warn(warning)
		}
		q.kind.fields.Update(present, next, q.manager(options), wallclock.Now())
		return q.presentable(s.replace(q, options, current, present, next))
	})
}

// isNamed sees to it that a body is about the object of the path.
func (q *request) isNamed(next object.Object) error {
	switch next.GetName() {
	case q.key.Name:
		return nil
	case "":
		return badRequest("the name of the object (%s based on URL) was undeterminable: name must be provided", q.key.Name)
	}
	return badRequest("the name of the object (%s) does not match the name on the URL (%s)", next.GetName(), q.key.Name)
}

// updateMissing creates what an update found missing. A uid says that the client has seen an object: not this one.
func (s *server) updateMissing(q *request, options *metav1.PatchOptions, next object.Object) (step, error) {
	if uid := string(next.GetUID()); uid != "" {
		return step{}, wrongUID(q, uid, "")
	}
	if err := anyVersion(next); err != nil {
		return step{}, err
	}
	if err := s.prepareCreate(q, options, next); err != nil {
		return step{}, err
	}
	return s.propose(q, options, next)
}

// anyVersion lets any version pass where there is nothing it could be compared with, but not what is no version.
func anyVersion(next object.Object) error {
	given := next.GetResourceVersion()
	if given == "" {
		return nil
	}
	_, err := strconv.ParseUint(given, 10, 64)
	return err
}

// propose is the step that creates next, which is complete.
func (s *server) propose(q *request, options *metav1.PatchOptions, next object.Object) (step, error) {
	if len(options.DryRun) > 0 {
		return final(&response{code: http.StatusCreated, value: next})
	}
	command, err := createCommand(q.kind, next)
	if err != nil {
		return step{}, err
	}
	return s.made(command, http.StatusCreated), nil
}

// replace makes next, of which the fields' owners are noted, the version after current. present is what current holds;
// next becomes this function's own.
func (s *server) replace(q *request, options *metav1.PatchOptions, current *fsm.Object, present, next object.Object) (step, error) {
	given := next.GetResourceVersion()
	version, err := strconv.ParseUint(given, 10, 64)
	switch {
	case given == "" || err == nil && version == 0:
		return step{}, q.kind.versionRequired(q.key.Name)
	case err != nil:
		return step{}, err
	case version != current.Revision:
		return step{}, q.kind.conflict(q.key.Name, errModified)
	}

	object.PrepareUpdate(object.Meta(next), object.Meta(present))
	if found := q.kind.validateUpdate(next, present); len(found) > 0 {
		return step{}, q.kind.invalid(q.key.Name, found)
	}
	if object.Released(object.Meta(next), object.Meta(present)) {
		return release(q, options, current, next)
	}
	if q.kind.equal(next, present) {
		return final(&response{code: http.StatusOK, object: current})
	}
	if len(options.DryRun) > 0 {
		return final(&response{code: http.StatusOK, value: next})
	}
	data, err := encode(next)
	if err != nil {
		return step{}, err
	}
	return s.made(&fsm.Command{Op: fsm.OpUpdate, Key: current.Key, UID: current.UID, Object: data}, http.StatusOK), nil
}

// release removes an object that was marked as deleted, since next has no finalizer left to hold it. It is answered as it
// would have become, under the version that it had; watchers see it as it last was.
func release(q *request, options *metav1.PatchOptions, current *fsm.Object, next object.Object) (step, error) {
	if err := q.form.Check(false); err != nil { // as presentable, which takes an answer without an object written for a Status
		return step{}, err
	}
	answer := &response{code: http.StatusOK, value: next}
	if len(options.DryRun) > 0 {
		return final(answer)
	}
	return step{
		command: &fsm.Command{Op: fsm.OpDelete, Key: current.Key, UID: current.UID},
		answer:  func(fsm.Result) (*response, error) { return answer, nil },
	}, nil
}

// made is the step that makes a new version and answers it.
func (s *server) made(command *fsm.Command, code int) step {
	return step{command: command, answer: func(result fsm.Result) (*response, error) {
		return &response{code: code, object: s.stored(command, result)}, nil
	}}
}
