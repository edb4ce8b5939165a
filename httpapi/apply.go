package httpapi

import (
	"fmt"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasehold/leasehold/fsm"
	"github.com/leasehold/leasehold/httpapi/fieldmanager"
	"github.com/leasehold/leasehold/httpapi/lease"
)

// apply merges a configuration into a Lease by who owns which field, and creates the Lease when there is none.
func (s *server) apply(q *request, options *metav1.PatchOptions) (*response, error) {
	now := time.Now()
	ctx := s.commandContext(q)
	return s.mutate(ctx, q.key, func(current *fsm.Object) (step, error) {
		var present *coordinationv1.Lease
		if current != nil {
			var err error
			if present, err = leaseOf(current); err != nil {
				return step{}, err
			}
		}
		force := options.Force != nil && *options.Force
		next, warnings, err := s.fields.Apply(present, q.body, options.FieldManager, force, options.FieldValidation, now)
		if err != nil {
			return step{}, err
		}
		q.warnings = append(warnings, lease.DropDuplicateOwners(next)...) // those of an earlier turn were about another object
		if err := q.isPlaced(next); err != nil {
			return step{}, err
		}
		if current != nil {
			return s.replace(q, options, current, present, next)
		}
		if next.UID != "" {
			return step{}, conflict(q.key.Name, fmt.Errorf(
				"uid mismatch: the provided object specified uid %s, and no existing object was found", next.UID))
		}
		lease.WipeSystemFields(next)
		if err := complete(next, now); err != nil {
			return step{}, err
		}
		return s.propose(options, next)
	})
}

// isApply tells whether a patch's body is a configuration to apply.
func (q *request) isApply() bool {
	return strings.HasPrefix(q.http.Header.Get("Content-Type"), "application/apply-patch+yaml")
}

// applyStatus tells of fields that others own. The details have causes, but neither name nor kind.
func applyStatus(found *fieldmanager.Conflict) *metav1.Status {
	status := apierrors.NewApplyConflict(found.Causes, found.Message).Status()
	return &status
}
