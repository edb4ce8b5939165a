package object

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const duplicateOwners = ".metadata.ownerReferences contains duplicate entries%s; API server dedups owner references in 1.20+, " +
	"and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: %s"

// DropDuplicateOwners removes owner references that repeat an earlier one entirely, and returns the warnings to answer
// with: one that names their uids, or none. Two different references with one uid both stay. kube-apiserver looks at what comes
// of a patch only after its admission, and says so; there is none here.
func DropDuplicateOwners(next *metav1.ObjectMeta, patched bool) (warnings []string) {
	if len(next.OwnerReferences) < 2 {
		return nil
	}
	kept := make([]metav1.OwnerReference, 0, len(next.OwnerReferences))
	known := make(map[owner]bool, len(next.OwnerReferences))
	var repeated []string
	for _, reference := range next.OwnerReferences {
		if whole := ownerOf(reference); !known[whole] {
			known[whole] = true
			kept = append(kept, reference)
			continue
		}
		repeated = append(repeated, string(reference.UID))
	}
	if len(repeated) == 0 {
		return nil
	}
	next.OwnerReferences = kept
	when := ""
	if patched {
		when = " after mutating admission happens"
	}
	return []string{fmt.Sprintf(duplicateOwners, when, strings.Join(repeated, ", "))}
}

// owner is a reference as a value that can be compared: there may be thousands of them, too many to compare each with all.
type owner struct {
	reference        metav1.OwnerReference // without its pointers
	controls, blocks flag
}

// flag is a bool that may be missing.
type flag struct{ present, value bool }

func ownerOf(reference metav1.OwnerReference) owner {
	whole := owner{reference: reference, controls: flagOf(reference.Controller), blocks: flagOf(reference.BlockOwnerDeletion)}
	whole.reference.Controller, whole.reference.BlockOwnerDeletion = nil, nil
	return whole
}

func flagOf(pointer *bool) flag {
	if pointer == nil {
		return flag{}
	}
	return flag{present: true, value: *pointer}
}
