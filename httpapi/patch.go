package httpapi

import (
	"encoding/json"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/leasehold/leasehold/fsm"
	"github.com/leasehold/leasehold/httpapi/fieldmanager"
	"github.com/leasehold/leasehold/httpapi/media"
	"github.com/leasehold/leasehold/httpapi/object"
	"github.com/leasehold/leasehold/httpapi/patch"
	"github.com/leasehold/leasehold/httpapi/wallclock"
)

// patch changes an object by one of the kinds of patch, or applies a configuration to it.
func (s *server) patch(q *request) (*response, error) {
	patchType, err := s.patchType(q)
	if err != nil {
		return nil, err
	}
	options, err := q.writeOptions("PatchOptions")
	if err != nil {
		return nil, err
	}
	switch patchType {
	case types.ApplyYAMLPatchType:
		return s.apply(q, options, media.YAML)
	case types.ApplyCBORPatchType:
		return s.apply(q, options, media.CBOR)
	}
	if !json.Valid(q.body) { // whether or not there is an object to patch
		return nil, badRequest("invalid JSON patch")
	}
	ctx := s.commandContext(q)
	return s.mutate(ctx, q.key, func(current *fsm.Object) (step, error) {
		if current == nil {
			return step{}, q.kind.notFound(q.key.Name)
		}
		return q.presentable(s.patched(q, patchType, options, current))
	})
}

// patched is the step that makes of current what the patch says. The version is that of the object unless the patch
// sets another, so a patch without one goes round until it meets the newest.
func (s *server) patched(q *request, patchType types.PatchType, options *metav1.PatchOptions, current *fsm.Object) (step, error) {
	present, err := q.kind.open(current)
	if err != nil {
		return step{}, err
	}
	next, warnings, err := patch.Apply(q.kind.Kind, patchType, present, q.body, options.FieldValidation)
	if err != nil {
		return step{}, err
	}
	if err := fieldmanager.Fits(next); err != nil {
		return step{}, err
	}
	q.warnings = warnings // those of an earlier turn were about another object
	if err := q.isPlaced(next); err != nil {
		return step{}, err
	}
	for _, warning := range object.DropDuplicateOwners(object.Meta(next), true) {
		q.warn(warning)
	}
	q.kind.fields.Update(present, next, q.manager(options), wallclock.Now())
	return s.replace(q, options, current, present, next)
}

// isPlaced sees to it that a patch has left an object where it was.
func (q *request) isPlaced(next object.Object) error {
	if err := q.isNamed(next); err != nil {
		return err
	}
	return q.inNamespace(next)
}

// patchTypes are the kinds of patch that there are whatever the gates.
var patchTypes = []types.PatchType{types.JSONPatchType, types.MergePatchType, types.StrategicMergePatchType, types.ApplyYAMLPatchType}

// patchType is the kind of patch that the body is. There is no default.
func (s *server) patchType(q *request) (types.PatchType, error) {
	contentType, _, _ := strings.Cut(q.http.Header.Get("Content-Type"), ";")
	if patchType := types.PatchType(contentType); slices.Contains(s.patchTypes, patchType) {
		return patchType, nil
	}
	return "", patch.ErrUnsupportedType
}
