package patch

import (
	"errors"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// What can be wrong with a patch. Each is found with errors.Is in what Apply returns; the comment tells the Status that
// kube-apiserver makes of it.
var (
	// ErrUnsupportedType: 415 with empty details.
	ErrUnsupportedType = errors.New("unsupported patch type")
	// ErrMalformed: 400.
	ErrMalformed = errors.New("malformed patch")
	// ErrTooManyOperations: 413.
	ErrTooManyOperations = errors.New("too many operations")
	// ErrImpossible: 422 with reason Invalid, empty details and a message that tells nothing.
	ErrImpossible = errors.New("patch cannot be done")
	// ErrResult: 422 with the single cause "patch" (see Error.Causes) and no kind, group or name in the details.
	ErrResult = errors.New("patch gives no valid object")
	// ErrDirective: 500 without a reason.
	ErrDirective = errors.New("bad strategic patch directive")
)

// Error is what Apply returns. Error() is the sentence for the client.
type Error struct {
	// Problem is one of the errors above.
	Problem error
	Message string
	// Causes is set with ErrResult only.
	Causes field.ErrorList
}

func (e *Error) Error() string { return e.Message }
func (e *Error) Unwrap() error { return e.Problem }

func refuse(problem error, message string) error {
	return &Error{Problem: problem, Message: message}
}

// noResult refuses a patch for what came out of it; value is what the cause shows.
func noResult(value string, err error) error {
	causes := field.ErrorList{field.Invalid(field.NewPath("patch"), value, err.Error())}
	return &Error{Problem: ErrResult, Message: causes.ToAggregate().Error(), Causes: causes}
}
