package httpapi

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/leasehold/leasehold/fsm"
)

// What a fuzzed door stores before each request, in the order of their versions.
const (
	heldUID = "11111111-1111-4111-8111-111111111111"
	secret  = "nobody-else-may-read-this" // the holder of every stored Lease
)

// stock is a Lease of every sort that makes a difference: with all fields and several managers, with none, one that is
// marked as deleted, one in another namespace; and some history.
func stock(t testing.TB) []fsm.Command {
	at := time.Date(2024, 1, 2, 3, 4, 5, 678901000, time.UTC)
	held := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "held", UID: heldUID, CreationTimestamp: metav1.NewTime(at.Truncate(time.Second)),
			Labels: map[string]string{"app": "one", "tier": "back"}, Annotations: map[string]string{"note": "n"},
			Finalizers:      []string{"example.com/a", "example.com/b"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "u1"}},
			ManagedFields: []metav1.ManagedFieldsEntry{
				entry("applier", metav1.ManagedFieldsOperationApply, at, `{"f:metadata":{"f:labels":{"f:tier":{}}},"f:spec":{"f:holderIdentity":{}}}`),
				entry("fuzz", metav1.ManagedFieldsOperationUpdate, at, `{"f:metadata":{"f:annotations":{".":{},"f:note":{}},"f:finalizers":{".":{},"v:\"example.com/a\"":{},"v:\"example.com/b\"":{}},"f:labels":{".":{},"f:app":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"u1\"}":{}}},"f:spec":{"f:acquireTime":{},"f:leaseDurationSeconds":{},"f:leaseTransitions":{},"f:preferredHolder":{},"f:renewTime":{},"f:strategy":{}}}`),
			},
		},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: ptr.To(secret), LeaseDurationSeconds: ptr.To[int32](15), LeaseTransitions: ptr.To[int32](3),
			AcquireTime: ptr.To(metav1.NewMicroTime(at)), RenewTime: ptr.To(metav1.NewMicroTime(at.Add(time.Second))),
			Strategy: ptr.To(coordinationv1.OldestEmulationVersion), PreferredHolder: ptr.To("two"),
		},
	}
	named := func(namespace, name, uid string) *coordinationv1.Lease {
		return &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(uid), CreationTimestamp: metav1.NewTime(at.Truncate(time.Second))},
			Spec:       coordinationv1.LeaseSpec{HolderIdentity: ptr.To(secret)},
		}
	}
	marked := named("ns", "marked", "22222222-2222-4222-8222-222222222222")
	marked.DeletionTimestamp, marked.DeletionGracePeriodSeconds = ptr.To(metav1.NewTime(at.Truncate(time.Second))), ptr.To[int64](0)
	marked.Finalizers = []string{"example.com/a"}
	bare := named("ns", "bare", "33333333-3333-4333-8333-333333333333")
	bare.Spec = coordinationv1.LeaseSpec{}
	earlier := held.DeepCopy()
	earlier.Spec.LeaseTransitions = nil
	gone := named("ns", "gone", "44444444-4444-4444-8444-444444444444")
	gone.Labels = map[string]string{"app": "one"}

	return []fsm.Command{
		put(t, fsm.OpCreate, earlier),
		put(t, fsm.OpCreate, gone),
		put(t, fsm.OpCreate, named("another", "held", "55555555-5555-4555-8555-555555555555")),
		put(t, fsm.OpCreate, named("ns", "light", "66666666-6666-4666-8666-666666666666")),
		{Op: fsm.OpDelete, Key: fsm.Key{Resource: "leases", Namespace: "ns", Name: "gone"}},
		put(t, fsm.OpCreate, bare),
		put(t, fsm.OpCreate, marked),
		put(t, fsm.OpUpdate, held), // the newest
	}
}

func entry(manager string, operation metav1.ManagedFieldsOperationType, at time.Time, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: operation, APIVersion: "coordination.k8s.io/v1", FieldsType: "FieldsV1",
		Time: ptr.To(metav1.NewTime(at.Truncate(time.Second))), FieldsV1: &metav1.FieldsV1{Raw: []byte(fields)},
	}
}

func put(t testing.TB, op fsm.Op, object *coordinationv1.Lease) fsm.Command {
	data, err := encode(object)
	require.NoError(t, err)
	key := fsm.Key{Resource: "leases", Namespace: object.Namespace, Name: object.Name}
	return fsm.Command{Op: op, Key: key, UID: string(object.UID), Object: data}
}
