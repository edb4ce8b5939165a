package fieldmanager

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ErrMalformed is wrapped by errors about an applied configuration that no object could make right: 400.
var ErrMalformed = errors.New("malformed apply configuration")

type malformed string

func (e malformed) Error() string        { return string(e) }
func (e malformed) Is(target error) bool { return target == ErrMalformed }

// Conflict tells which fields of an apply belong to others: 409 whose details hold the causes and nothing else. There is
// one cause for each field and manager, and they come in no fixed order.
type Conflict struct {
	Causes  []metav1.StatusCause
	Message string
}

func (c *Conflict) Error() string { return c.Message }

// applyError sorts what the library returns, which for some of it is already a Status. The rest is passed on as it is,
// since the client of kube-apiserver is shown the library's own words.
func applyError(err error) error {
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		return err
	}
	switch status.ErrStatus.Reason {
	case metav1.StatusReasonConflict:
		conflict := &Conflict{Message: status.ErrStatus.Message}
		if status.ErrStatus.Details != nil {
			conflict.Causes = status.ErrStatus.Details.Causes
		}
		return conflict
	case metav1.StatusReasonBadRequest:
		return malformed(status.ErrStatus.Message)
	}
	return err
}
