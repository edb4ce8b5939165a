package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/leasehold/leasehold/cluster"
	"github.com/leasehold/leasehold/fsm/seeded"
	"github.com/leasehold/leasehold/httpapi/auth"
	"github.com/leasehold/leasehold/httpapi/fieldmanager"
	"github.com/leasehold/leasehold/httpapi/media"
	"github.com/leasehold/leasehold/httpapi/patch"
	"github.com/leasehold/leasehold/httpapi/review"
)

// What the pipeline itself may find. statusOf knows their codes.
var (
	errPanicked        = errors.New("this request caused an internal error; see the logs")
	errTooManyRequests = errors.New("too many requests, please try again later")
	errTooManyWatches  = errors.New("too many watches, please try again later")
	errBodyTooLarge    = errors.New("limit is 3145728")
	errUnauthorized    = errors.New("Unauthorized")
	errNoSuchPath      = errors.New("the server could not find the requested resource")
	errNoSuchMethod    = errors.New("the server does not allow this method on the requested resource")
	errLate            = errors.New("the change may or may not have been made: it took longer than a client may wait for it")
)

// statusOf turns any error into what the client is told.
func statusOf(err error) *metav1.Status {
	var (
		known        apierrors.APIStatus
		undecodable  *media.BodyError
		unsupported  *media.UnsupportedTypeError
		unacceptable *media.NotAcceptableError
		owned        *fieldmanager.Conflict
	)
	switch {
	case errors.As(err, &known):
		status := known.Status()
		return &status
	case errors.Is(err, errNoSuchPath):
		return failure(http.StatusNotFound, metav1.StatusReasonNotFound, err.Error(), &metav1.StatusDetails{})
	case errors.Is(err, errNoSuchMethod):
		return failure(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, err.Error(), &metav1.StatusDetails{})
	case errors.Is(err, errUnauthorized):
		return failure(http.StatusUnauthorized, metav1.StatusReasonUnauthorized, "Unauthorized", nil)
	case errors.Is(err, errBodyTooLarge):
		return failure(http.StatusRequestEntityTooLarge, metav1.StatusReasonRequestEntityTooLarge, "Request entity too large: "+err.Error(), nil)
	case errors.As(err, &undecodable):
		return failure(http.StatusBadRequest, metav1.StatusReasonBadRequest, undecodable.Message, nil)
	case errors.As(err, &unsupported):
		return failure(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType, unsupported.Error(), nil)
	case errors.As(err, &unacceptable):
		status := failure(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable, unacceptable.Message, nil)
		if unacceptable.ByRoute {
			status.Details = &metav1.StatusDetails{}
		}
		return status

	case errors.Is(err, patch.ErrUnsupportedType):
		return failure(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType, "415: Unsupported Media Type", &metav1.StatusDetails{})
	case errors.Is(err, patch.ErrMalformed):
		return failure(http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error(), nil)
	case errors.Is(err, patch.ErrTooManyOperations), errors.Is(err, fieldmanager.ErrTooManyEntries),
		errors.Is(err, review.ErrTooManySelecting):
		return failure(http.StatusRequestEntityTooLarge, metav1.StatusReasonRequestEntityTooLarge, "Request entity too large: "+err.Error(), nil)
	case errors.Is(err, patch.ErrImpossible):
		return failure(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid,
			"the server rejected our request due to an error in our request", &metav1.StatusDetails{})
	case errors.Is(err, patch.ErrResult):
		return unusableResult(err)

	case errors.As(err, &owned):
		return applyStatus(owned)
	case errors.Is(err, fieldmanager.ErrMalformed):
		return failure(http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error(), nil)

	// Nothing was done, and trying again may help: client-go does so by itself when it is given a Retry-After.
	case errors.Is(err, errTooManyRequests), errors.Is(err, errTooManyWatches), errors.Is(err, cluster.ErrOverloaded):
		return failure(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, err.Error(), retryAfter(1))
	case errors.Is(err, cluster.ErrUnavailable), errors.Is(err, cluster.ErrClosed):
		return failure(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, err.Error(), retryAfter(1))

	// Something may have been done. No Retry-After here: client-go would send the same write again.
	case errors.Is(err, cluster.ErrUnknownOutcome), errors.Is(err, errLate),
		errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		if seeded.RetryAfter {
			return failure(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, err.Error(), retryAfter(1))
		}
		return failure(http.StatusGatewayTimeout, metav1.StatusReasonTimeout, "Timeout: "+err.Error(), nil)

	// kube-apiserver passes on what etcd says of a value too large, and of much else, as a 500 without a reason.
	default:
		return failure(http.StatusInternalServerError, "", err.Error(), nil)
	}
}

// byRouter tells whether kube-apiserver's router refuses a request for this, before any of its handlers sees it.
func byRouter(err error) bool {
	var unacceptable *media.NotAcceptableError
	return errors.As(err, &unacceptable) && unacceptable.ByRoute || errors.Is(err, patch.ErrUnsupportedType)
}

// unusableResult is a patch whose result is no object of its kind: it has causes, but is not about any kind.
func unusableResult(err error) *metav1.Status {
	var refused *patch.Error
	if !errors.As(err, &refused) {
		return failure(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, err.Error(), &metav1.StatusDetails{})
	}
	status := apierrors.NewInvalid(schema.GroupKind{}, "", refused.Causes).Status()
	return &status
}

func failure(code int32, reason metav1.StatusReason, message string, details *metav1.StatusDetails) *metav1.Status {
	return &metav1.Status{Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message, Details: details}
}

func retryAfter(seconds int32) *metav1.StatusDetails {
	return &metav1.StatusDetails{RetryAfterSeconds: seconds}
}

func badRequest(format string, args ...any) error {
	return apierrors.NewBadRequest(fmt.Sprintf(format, args...))
}

// Statuses name what they are about as the resource or as the kind; which of them is not left to taste but to what
// kube-apiserver does: the kind in what validation finds and in failed preconditions of a delete, else the resource.

func (k *kind) notFound(name string) error { return apierrors.NewNotFound(k.resource, name) }

func (k *kind) alreadyExists(name string) error { return apierrors.NewAlreadyExists(k.resource, name) }

// noSuchNamespace is a create in a namespace that cannot exist. All others do.
func noSuchNamespace(name string) error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, name)
}

// conflict is a write that was made from an older version, or for an object with another uid.
func (k *kind) conflict(name string, cause error) error {
	return apierrors.NewConflict(k.resource, name, cause)
}

// preconditionFailed is a delete whose own preconditions do not hold.
func (k *kind) preconditionFailed(name, what, given, recorded, advice string) error {
	return apierrors.NewConflict(schema.GroupResource{Group: k.Group, Resource: k.Kind.Kind}, name, fmt.Errorf(
		"the %s in the precondition (%s) does not match the %s in record (%s). %s", what, given, what, recorded, advice))
}

// wrongUID is an update of an object with another uid than the one that is there ("" for none at all).
func wrongUID(q *request, given, recorded string) error {
	return q.kind.conflict(q.key.Name, fmt.Errorf("StorageError: invalid object, Code: 4, Key: /registry/%s/%s, ResourceVersion: 0, "+
		"AdditionalErrorMsg: Precondition failed: UID in precondition: %s, UID in object meta: %s", q.key.Resource, q.key, given, recorded))
}

// readable is a delete of something unreadable that is not.
func readable(q *request) error {
	return q.kind.conflict(q.key.Name, fmt.Errorf("StorageError: invalid object, Code: 4, Key: /registry/%s/%s, ResourceVersion: 0, "+
		"AdditionalErrorMsg: unsafe deletion is not allowed because the object is decodable from storage", q.key.Resource, q.key))
}

// errModified is what a client's own optimistic lock runs into. Clients know the sentence.
var errModified = errors.New("the object has been modified; please apply your changes to the latest version and try again")

// invalid is what validation found, in order.
func (k *kind) invalid(name string, found field.ErrorList) error {
	return apierrors.NewInvalid(k.GroupKind(), name, found)
}

// versionRequired is an update that does not say which version it was made from.
func (k *kind) versionRequired(name string) error {
	return apierrors.NewInvalid(schema.GroupKind{Group: k.Group, Kind: k.resource.Resource}, name, field.ErrorList{
		field.Invalid(field.NewPath("metadata").Child("resourceVersion"), 0, "must be specified for an update"),
	})
}

// invalidOptions is what is wrong with a query, or with a body of options; kind is for example CreateOptions.
func invalidOptions(kind string, found field.ErrorList) error {
	return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: kind}, "", found)
}

// forbidden is a known user without the right to do this.
func forbidden(denied *auth.Denied) error {
	action := &denied.Action
	return apierrors.NewForbidden(schema.GroupResource{Group: action.Group, Resource: action.Resource}, action.Name, denied)
}
