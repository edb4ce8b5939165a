package fieldmanager_test

import (
	"fmt"
	"testing"

	"github.com/leasehold/leasehold/httpapi/lease"
	"github.com/stretchr/testify/assert"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

type lse = coordinationv1.Lease

func held(by string) func(*lse)    { return func(l *lse) { l.Spec.HolderIdentity = &by } }
func lasting(s int32) func(*lse)   { return func(l *lse) { l.Spec.LeaseDurationSeconds = &s } }
func labelled(k string) func(*lse) { return func(l *lse) { l.Labels = map[string]string{k: "v"} } }
func nothing(*lse)                 {}
func managed(entries ...metav1.ManagedFieldsEntry) func(*lse) {
	return func(l *lse) { l.ManagedFields = entries }
}

func both(changes ...func(*lse)) func(*lse) {
	return func(l *lse) {
		for _, change := range changes {
			change(l)
		}
	}
}

func TestCreateNotesEveryFieldThatWasSent(t *testing.T) {
	d := open(t)
	l := d.create("one", func(l *lse) {
		l.GenerateName = "g-"
		l.Labels = map[string]string{"k": "v", "example.com/x": "z"}
		l.Annotations = map[string]string{"note": "v"}
		l.Finalizers = []string{"example.com/f"}
		l.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "u1"}}
		l.Spec = coordinationv1.LeaseSpec{
			HolderIdentity:       ptr.To("x"),
			LeaseDurationSeconds: ptr.To[int32](1),
			AcquireTime:          &metav1.MicroTime{Time: start},
			RenewTime:            &metav1.MicroTime{Time: start},
			LeaseTransitions:     ptr.To[int32](0),
			Strategy:             ptr.To(coordinationv1.OldestEmulationVersion),
			PreferredHolder:      ptr.To("z"),
		}
	})
	assert.Equal(t, []string{`one Update 1 {"f:metadata":{` +
		`"f:annotations":{".":{},"f:note":{}},` +
		`"f:finalizers":{".":{},"v:\"example.com/f\"":{}},` +
		`"f:generateName":{},` +
		`"f:labels":{".":{},"f:example.com/x":{},"f:k":{}},` +
		`"f:ownerReferences":{".":{},"k:{\"uid\":\"u1\"}":{}}},` +
		`"f:spec":{"f:acquireTime":{},"f:holderIdentity":{},"f:leaseDurationSeconds":{},"f:leaseTransitions":{},` +
		`"f:preferredHolder":{},"f:renewTime":{},"f:strategy":{}}}`}, owners(l))
	assert.Equal(t, "coordination.k8s.io/v1", l.ManagedFields[0].APIVersion)
	assert.Equal(t, "FieldsV1", l.ManagedFields[0].FieldsType)
	assert.Zero(t, l.ManagedFields[0].Time.Nanosecond())
}

func TestAnObjectCreatedWithNothingToOwnIsNotTracked(t *testing.T) {
	d := open(t)
	l := d.create("one", nothing)
	assert.Empty(t, l.ManagedFields)
	l = d.update(l, "two", held("x"))
	assert.Empty(t, l.ManagedFields)
}

func TestUpdateMovesChangedFieldsAlone(t *testing.T) {
	d := open(t)
	l := d.create("one", both(held("x"), lasting(1)))
	l = d.update(l, "two", held("z"))
	assert.Equal(t, []string{
		`one Update 1 {"f:spec":{"f:leaseDurationSeconds":{}}}`,
		`two Update 2 {"f:spec":{"f:holderIdentity":{}}}`,
	}, owners(l))

	l = d.update(l, "two", lasting(2))
	assert.Equal(t, []string{`two Update 3 {"f:spec":{"f:holderIdentity":{},"f:leaseDurationSeconds":{}}}`}, owners(l))
}

func TestAWriteThatChangesNothingIsNotNoted(t *testing.T) {
	d := open(t)
	l := d.create("one", both(held("x"), labelled("k")))
	for _, manager := range []string{"one", "two"} {
		same := d.update(l, manager, nothing)
		assert.Equal(t, owners(l), owners(same))
		assert.True(t, lease.Equal(same, l))
	}
	unsent := d.update(l, "two", managed())
	assert.Equal(t, owners(l), owners(unsent), "entries that are not sent back stay")

	again := d.mustApply(l, "one", `},"spec":{"holderIdentity":"x"}`)
	repeated := d.mustApply(again, "one", `},"spec":{"holderIdentity":"x"}`)
	assert.Equal(t, owners(again), owners(repeated))
}

func TestRemovedFieldsHaveNoOwner(t *testing.T) {
	d := open(t)
	l := d.create("one", held("x"))
	l = d.update(l, "two", func(l *lse) { l.Spec.HolderIdentity = nil })
	assert.Empty(t, l.ManagedFields)
}

func TestClearingTurnsTrackingOff(t *testing.T) {
	for name, entries := range map[string][]metav1.ManagedFieldsEntry{"one empty entry": {{}}, "an empty list": {}} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			l := d.create("one", held("x"))
			l = d.update(l, "two", both(lasting(3), managed(entries...), func(l *lse) { l.ManagedFields = entries }))
			assert.Empty(t, l.ManagedFields)
			l = d.update(l, "two", held("z"))
			assert.Empty(t, l.ManagedFields)
		})
	}
}

func TestEntriesThatCannotBeUnderstoodAreIgnored(t *testing.T) {
	d := open(t)
	entry := func(operation metav1.ManagedFieldsOperationType, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: "me", Operation: operation, APIVersion: "coordination.k8s.io/v1",
			FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
		}
	}
	l := d.create("one", both(held("x"), managed(entry("Eat", `{}`))))
	assert.Equal(t, []string{`one Update 1 {"f:spec":{"f:holderIdentity":{}}}`}, owners(l))
	for _, bad := range []metav1.ManagedFieldsEntry{entry("Nope", `{}`), entry("Update", `{"q":{}}`), entry("Update", `[`), entry("Update", "{\"f:spec\":{\"f:\x80\":{}}}")} {
		assert.Equal(t, owners(l), owners(d.update(l, "two", managed(bad))))
	}
}

func TestMoreThanTenUpdatersAreFolded(t *testing.T) {
	d := open(t)
	l := d.create("m", labelled("l"))
	for i := range 11 {
		l = d.update(l, fmt.Sprintf("n%03d", i), func(l *lse) { l.Labels[fmt.Sprintf("l%03d", i)] = "v" })
	}
	assert.Len(t, l.ManagedFields, 10)
	assert.Equal(t, `ancient-changes Update 3 {"f:metadata":{"f:labels":{".":{},"f:l":{},"f:l000":{},"f:l001":{}}}}`, owners(l)[0])
	assert.Equal(t, `n010 Update 12 {"f:metadata":{"f:labels":{"f:l010":{}}}}`, owners(l)[9])
}

func TestTheManagerOfNoNameIsUnknown(t *testing.T) {
	d := open(t)
	assert.Equal(t, []string{`unknown Update 1 {"f:spec":{"f:holderIdentity":{}}}`}, owners(d.create("", held("x"))))
}
