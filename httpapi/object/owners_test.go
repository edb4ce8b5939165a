package object_test

import (
	"strconv"
	"testing"

	"github.com/leasehold/leasehold/httpapi/object"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

func TestRepeatedOwnersAreDroppedWithAWarning(t *testing.T) {
	p := metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "u1"}
	q := metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: "q", UID: "u1"}
	next := valid(func(l *coordinationv1.Lease) { l.OwnerReferences = []metav1.OwnerReference{p, q, p} })

	warnings := object.DropDuplicateOwners(&next.ObjectMeta, false)
	require.Len(t, warnings, 1)
	assert.Contains(t, warnings[0], "duplicate UID(s) observed: u1")
	assert.Equal(t, []metav1.OwnerReference{p, q}, next.OwnerReferences, "one uid with two names stays")

	assert.Empty(t, object.DropDuplicateOwners(&next.ObjectMeta, false))
}

// TestOwnersThatDifferInAnythingStay compares with what equality means elsewhere.
func TestOwnersThatDifferInAnythingStay(t *testing.T) {
	var all []metav1.OwnerReference
	for _, controller := range []*bool{nil, ptr.To(false), ptr.To(true)} {
		for _, blocks := range []*bool{nil, ptr.To(false), ptr.To(true)} {
			for _, word := range []string{"", "x"} {
				all = append(all, metav1.OwnerReference{APIVersion: word, UID: "u", Controller: controller, BlockOwnerDeletion: blocks},
					metav1.OwnerReference{Kind: word, Name: "n", UID: "u", Controller: controller, BlockOwnerDeletion: blocks})
			}
		}
	}
	next := valid(func(l *coordinationv1.Lease) { l.OwnerReferences = append(all, all...) })
	assert.Len(t, object.DropDuplicateOwners(&next.ObjectMeta, false), 1)
	assert.Equal(t, all, next.OwnerReferences)
}

func TestFiveThousandOwnersAreComparedInNoTime(t *testing.T) {
	next := valid(func(l *coordinationv1.Lease) {
		for i := range 5000 {
			l.OwnerReferences = append(l.OwnerReferences, metav1.OwnerReference{UID: types.UID(strconv.Itoa(i))})
		}
	})
	assert.Less(t, testing.AllocsPerRun(1, func() { object.DropDuplicateOwners(&next.ObjectMeta, false) }), 5000.0, "comparing each with all takes millions")
}
