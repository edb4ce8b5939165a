package fieldmanager

import (
	"errors"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
)

// MaxEntries is how many labels, annotations, finalizers, owners and managers a Lease may have altogether. Their owners are
// found in time that grows with the square of their number: of 5,000 in some tens of milliseconds, but a body of 3 MiB
// holds enough of them to keep a processor busy for minutes. Nobody has a use for so many.
const MaxEntries = 5000

// ErrTooManyEntries says that a Lease has more of them.
var ErrTooManyEntries = errors.New("too many labels, annotations, finalizers, owner references and managed fields")

// Fits returns nil if a Lease is not too large for Update, else ErrTooManyEntries.
func Fits(next *coordinationv1.Lease) error {
	return fits(len(next.Labels) + len(next.Annotations) + len(next.Finalizers) + len(next.OwnerReferences) + len(next.ManagedFields))
}

// TreeFits is Fits of what a client sent, of which nothing is known yet but that it is a tree: all members of its maps and
// lists count.
func TreeFits(tree map[string]any) error { return fits(entries(tree)) }

// entries counts the members of all maps and lists in value, and stops where there are too many.
func entries(value any) (count int) {
	switch value := value.(type) {
	case map[string]any:
		for _, child := range value {
			if count += 1 + entries(child); count > MaxEntries {
				return count
			}
		}
	case []any:
		for _, child := range value {
			if count += 1 + entries(child); count > MaxEntries {
				return count
			}
		}
	}
	return count
}

func fits(entries int) error {
	if entries > MaxEntries {
		return fmt.Errorf("%w: more than %d", ErrTooManyEntries, MaxEntries)
	}
	return nil
}
