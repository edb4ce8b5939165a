package object_test

import (
	"testing"

	"github.com/leasehold/leasehold/httpapi/object"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestRepeatedOwnersAreDroppedWithAWarning(t *testing.T) {
	p := metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "u1"}
	q := metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: "q", UID: "u1"}
	next := valid(func(l *coordinationv1.Lease) { l.OwnerReferences = []metav1.OwnerReference{p, q, p} })

	warnings := object.DropDuplicateOwners(&next.ObjectMeta)
	require.Len(t, warnings, 1)
	assert.Contains(t, warnings[0], "duplicate UID(s) observed: u1")
	assert.Equal(t, []metav1.OwnerReference{p, q}, next.OwnerReferences, "one uid with two names stays")

	assert.Empty(t, object.DropDuplicateOwners(&next.ObjectMeta))
}
