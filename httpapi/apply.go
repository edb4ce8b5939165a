package httpapi

import (
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasehold/leasehold/fsm"
	"github.com/leasehold/leasehold/httpapi/fieldmanager"
	"github.com/leasehold/leasehold/httpapi/media"
	"github.com/leasehold/leasehold/httpapi/object"
	"github.com/leasehold/leasehold/httpapi/wallclock"
)

// apply merges a configuration into an object by who owns which field, and creates the object when there is none. JSON is
// YAML too.
func (s *server) apply(q *request, options *metav1.PatchOptions, encoding media.Encoding) (*response, error) {
	now := wallclock.Now()
	ctx := s.commandContext(q)
	return s.mutate(ctx, q.key, func(current *fsm.Object) (step, error) {
		var present object.Object
		if current != nil {
			var err error
			if present, err = q.kind.open(current); err != nil {
				return step{}, err
			}
		}
		force := options.Force != nil && *options.Force
		next, warnings, err := q.kind.fields.Apply(present, q.body, encoding, options.FieldManager, force, options.FieldValidation, now)
		if err != nil {
			return step{}, err
		}
		q.warnings = append(warnings, object.DropDuplicateOwners(object.Meta(next), true)...) // those of an earlier turn were about another object
		if err := q.isPlaced(next); err != nil {
			return step{}, err
		}
		if current != nil {
			return q.presentable(s.replace(q, options, current, present, next))
		}
		if uid := next.GetUID(); uid != "" {
			return step{}, q.kind.conflict(q.key.Name, fmt.Errorf(
				"uid mismatch: the provided object specified uid %s, and no existing object was found", uid))
		}
		if err := anyVersion(next); err != nil {
			return step{}, err
		}
		object.WipeSystemFields(object.Meta(next))
		if err := complete(q.kind, next, now); err != nil {
			return step{}, err
		}
		return q.presentable(s.propose(q, options, next))
	})
}

// isApply tells whether a patch's body is a configuration to apply.
func (q *request) isApply() bool {
	return strings.HasPrefix(q.http.Header.Get("Content-Type"), "application/apply-patch+")
}

// applyStatus tells of fields that others own. The details have causes, but neither name nor kind.
func applyStatus(found *fieldmanager.Conflict) *metav1.Status {
	status := apierrors.NewApplyConflict(found.Causes, found.Message).Status()
	return &status
}
