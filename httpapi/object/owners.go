package object

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const duplicateOwners = ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, " +
	"and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: %s"

// DropDuplicateOwners removes owner references that repeat an earlier one entirely, and returns the warnings to answer
// with: one that names their uids, or none. Two different references with one uid both stay.
func DropDuplicateOwners(next *metav1.ObjectMeta) (warnings []string) {
	if len(next.OwnerReferences) < 2 {
		return nil
	}
	var kept []metav1.OwnerReference
	var repeated []string
	for _, owner := range next.OwnerReferences {
		same := func(other metav1.OwnerReference) bool { return equality.Semantic.DeepEqual(other, owner) }
		if slices.ContainsFunc(kept, same) {
			repeated = append(repeated, string(owner.UID))
			continue
		}
		kept = append(kept, owner)
	}
	if len(repeated) == 0 {
		return nil
	}
	next.OwnerReferences = kept
	return []string{fmt.Sprintf(duplicateOwners, strings.Join(repeated, ", "))}
}
