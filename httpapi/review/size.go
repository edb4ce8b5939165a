package review

import (
	"errors"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
)

// MaxSelecting is how many requirements and values the selectors of a question may have altogether. What is wrong with each
// is told apart, in more memory than it came in, and any user may ask.
const MaxSelecting = 1000

// ErrTooManySelecting says that a question has more of them.
var ErrTooManySelecting = errors.New("too many requirements and values in the selectors of a review")

// Fits returns nil if a question is not too large to be looked at, else ErrTooManySelecting.
func Fits(asked *authorizationv1.SelfSubjectAccessReview) error {
	attributes := asked.Spec.ResourceAttributes
	if attributes == nil {
		return nil
	}
	count := 0
	if selector := attributes.FieldSelector; selector != nil {
		for _, requirement := range selector.Requirements {
			count += 1 + len(requirement.Values)
		}
	}
	if selector := attributes.LabelSelector; selector != nil {
		for _, requirement := range selector.Requirements {
			count += 1 + len(requirement.Values)
		}
	}
	if count > MaxSelecting {
		return fmt.Errorf("%w: more than %d", ErrTooManySelecting, MaxSelecting)
	}
	return nil
}
