package fieldmanager

import (
	"errors"
	"fmt"

	"github.com/leasehold/leasehold/httpapi/object"
)

// MaxEntries is how many labels, annotations, finalizers, owners and managers an object may have altogether. Their owners are
// found in time that grows with the square of their number: of 5,000 in some tens of milliseconds, but a body of 3 MiB
// holds enough of them to keep a processor busy for minutes. Nobody has a use for so many.
const MaxEntries = 5000

// ErrTooManyEntries says that an object has more of them.
var ErrTooManyEntries = errors.New("too many labels, annotations, finalizers, owner references and managed fields")

// Fits returns nil if an object is not too large for Update, else ErrTooManyEntries.
func Fits(next object.Object) error {
	meta := object.Meta(next)
	return fits(len(meta.Labels) + len(meta.Annotations) + len(meta.Finalizers) + len(meta.OwnerReferences) + len(meta.ManagedFields))
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
