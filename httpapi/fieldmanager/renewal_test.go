package fieldmanager

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/leasehold/leasehold/httpapi/lease"
)

var testNow = time.Date(2026, 3, 4, 5, 6, 7, 890_000_000, time.UTC)

// texts are what entries may own: as the library writes it, otherwise, and things that no Lease has.
var texts = []string{
	`{"f:spec":{"f:renewTime":{}}}`,
	`{"f:spec":{"f:holderIdentity":{},"f:renewTime":{}}}`,
	`{"f:spec":{"f:leaseDurationSeconds":{},"f:leaseTransitions":{}}}`,
	`{"f:spec":{"f:acquireTime":{},"f:holderIdentity":{},"f:leaseDurationSeconds":{},"f:leaseTransitions":{},"f:preferredHolder":{},"f:renewTime":{},"f:strategy":{}}}`,
	`{"f:metadata":{"f:labels":{".":{},"f:k":{}}}}`,
	`{"f:metadata":{"f:labels":{}}}`,
	`{"f:metadata":{"f:ownerReferences":{".":{},"k:{\"uid\":\"u1\"}":{}}},"f:spec":{"f:renewTime":{}}}`,
	`{"f:metadata":{"f:finalizers":{"v:\"a/b\"":{}},"f:generateName":{}}}`,
	`{ "f:spec" : {"f:renewTime":{} , "f:acquireTime":{}}}`,
	`{"f:spec":{".":{},"f:renewTime":{}}}`,
	`{"f:spec":{}}`,
	`{"f:spec":{"f:renewTime":{"f:deeper":{}}}}`,
	`{"f:spec":{"f:renewTime":{".":{},"f:deeper":{}}}}`,
	`{"f:spec":{"f:colour":{},"f:renewTime":{}}}`,
	`{"f:metadata":{"f:ownerReferences":{"k:{\"uid\":\"u1\"}":{"f:name":{}}}}}`,
	`{"f:metadata":{"f:deletionTimestamp":{},"f:uid":{},"f:name":{}}}`,
	`{"f:apiVersion":{},"f:spec":{"f:renewTime":{}}}`,
	`{"f:metadata":{"f:deletionTimestamp":{}},"f:spec":{"f:renewTime":{}}}`,
	`{"f:metadata":{"f:annotations":{"f:k":{"f:deeper":{}}},"f:labels":{"f:k":{}}}}`,
	`{}`,
	`{"q":{}}`,
	`[`,
	``,
}

// TestEveryFieldSetIsReadOrLeftToTheLibrary reads them one by one; some are of no use early on.
func TestEveryFieldSetIsReadOrLeftToTheLibrary(t *testing.T) {
	for _, text := range texts {
		require.NotPanics(t, func() { parse([]byte(text)) }, text)
	}
}

func drawEntry(t *rapid.T) metav1.ManagedFieldsEntry {
	entry := metav1.ManagedFieldsEntry{
		Manager:    rapid.SampledFrom([]string{"me", "me", "other", "<third>", "unknown", "", "bad\xff"}).Draw(t, "manager"),
		Operation:  rapid.SampledFrom([]metav1.ManagedFieldsOperationType{"Update", "Update", "Update", "Apply", "Eat"}).Draw(t, "operation"),
		APIVersion: rapid.SampledFrom([]string{leaseVersion, leaseVersion, leaseVersion, leaseVersion, "coordination.k8s.io/v1beta1", ""}).Draw(t, "version"),
		FieldsType: rapid.SampledFrom([]string{"FieldsV1", "FieldsV1", "FieldsV1", "FieldsV1", "FieldsV1", ""}).Draw(t, "type"),
	}
	if rapid.IntRange(0, 9).Draw(t, "subresource") == 0 {
		entry.Subresource = "status"
	}
	if rapid.IntRange(0, 9).Draw(t, "no fields") > 0 {
		entry.FieldsV1 = metav1.NewFieldsV1(rapid.SampledFrom(texts).Draw(t, "fields"))
	}
	if seconds := rapid.Int64Range(0, 3).Draw(t, "time"); seconds > 0 {
		entry.Time = &metav1.Time{Time: testNow.Truncate(time.Second).Add(time.Duration(seconds-3) * time.Second)}
	}
	return entry
}

// storable tells whether a stored object can have such an entry: text that is no JSON never gets so far.
func storable(entry metav1.ManagedFieldsEntry) bool {
	return entry.FieldsV1 == nil || entry.FieldsV1.GetRawString() == "" || json.Valid(entry.FieldsV1.GetRawBytes())
}

func drawTime(t *rapid.T) *metav1.MicroTime {
	if rapid.IntRange(0, 19).Draw(t, "zero time") == 0 {
		return &metav1.MicroTime{}
	}
	at := testNow.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "half microseconds")) * 500)
	if rapid.Bool().Draw(t, "other zone") {
		at = at.In(time.FixedZone("", 3600))
	}
	return &metav1.MicroTime{Time: at}
}

func maybe[T any](t *rapid.T, label string, draw func() T) *T {
	if rapid.IntRange(0, 4).Draw(t, label) == 0 {
		return nil
	}
	return ptr.To(draw())
}

func drawSpec(t *rapid.T) coordinationv1.LeaseSpec {
	word := func() string { return rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "word") }
	number := func() int32 { return rapid.Int32Range(0, 2).Draw(t, "number") }
	at := func() metav1.MicroTime { return *drawTime(t) }
	return coordinationv1.LeaseSpec{
		HolderIdentity:       maybe(t, "holder", word),
		LeaseDurationSeconds: maybe(t, "duration", number),
		AcquireTime:          maybe(t, "acquire", at),
		RenewTime:            maybe(t, "renew", at),
		LeaseTransitions:     maybe(t, "transitions", number),
		PreferredHolder:      maybe(t, "preferred", word),
		Strategy: maybe(t, "strategy", func() coordinationv1.CoordinatedLeaseStrategy {
			return coordinationv1.CoordinatedLeaseStrategy(word())
		}),
	}
}

func drawMetadata(t *rapid.T) metav1.ObjectMeta {
	meta := metav1.ObjectMeta{Namespace: "ns", Name: "a", UID: "u", ResourceVersion: "7", CreationTimestamp: metav1.Unix(100, 0)}
	owner := metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: "n", UID: "u1"}
	meta.Labels = rapid.SampledFrom([]map[string]string{nil, {}, {"k": "v"}, {"k": "w"}}).Draw(t, "labels")
	meta.Finalizers = rapid.SampledFrom([][]string{nil, {}, {"a/b"}, {"a/b", "a/b"}, {"a/b", "c/d"}}).Draw(t, "finalizers")
	meta.OwnerReferences = rapid.SampledFrom([][]metav1.OwnerReference{nil, {owner}, {owner, owner}}).Draw(t, "owners")
	return meta
}

// alter changes a few things of a copy of current, as writers do.
func alter(t *rapid.T, current *coordinationv1.Lease) *coordinationv1.Lease {
	next := current.DeepCopy()
	for range rapid.IntRange(0, 3).Draw(t, "changes") {
		switch rapid.IntRange(0, 9).Draw(t, "change") {
		case 0, 1, 2, 3:
			if next.Spec.RenewTime != nil {
				next.Spec.RenewTime = drawTime(t)
			}
		case 4:
			if next.Spec.HolderIdentity != nil {
				next.Spec.HolderIdentity = ptr.To("new")
			}
		case 5:
			next.Spec = drawSpec(t)
		case 6:
			next.UID, next.ResourceVersion, next.CreationTimestamp, next.Generation = "", "", metav1.Time{}, 4
		case 7:
			next.ObjectMeta = drawMetadata(t)
			next.ManagedFields = current.DeepCopy().ManagedFields
		case 8:
			next.DeletionTimestamp = &metav1.Time{Time: testNow}
		case 9:
			next.Annotations = map[string]string{"a": "b"}
		}
	}
	switch rapid.IntRange(0, 9).Draw(t, "sent entries") {
	case 0, 1:
		next.ManagedFields = nil
	case 2:
		next.ManagedFields = []metav1.ManagedFieldsEntry{}
	case 3:
		next.ManagedFields = []metav1.ManagedFieldsEntry{{}}
	case 4:
		next.ManagedFields = rapid.SliceOfN(rapid.Custom(drawEntry), 1, 3).Draw(t, "other entries")
	}
	return next
}

func TestWhatRenewalsAnswerIsWhatTheLibraryAnswers(t *testing.T) {
	m, err := New(lease.Kind)
	require.NoError(t, err)
	answered, changed := 0, 0
	compare := func(t *rapid.T) {
		current := &coordinationv1.Lease{ObjectMeta: drawMetadata(t), Spec: drawSpec(t)}
		current.ManagedFields = rapid.SliceOfN(rapid.Custom(drawEntry).Filter(storable), 0, 3).Draw(t, "entries")
		if rapid.IntRange(0, 3).Draw(t, "settled") > 0 {
			// As the library leaves it; most entries above are odd.
			current.ManagedFields, current.Spec.RenewTime = nil, &metav1.MicroTime{Time: testNow.Add(-time.Second)}
			first := &coordinationv1.Lease{}
			m.update(first, current, rapid.SampledFrom([]string{"me", "other"}).Draw(t, "creator"), testNow.Add(-time.Hour))
			some := current.DeepCopy()
			some.Spec.LeaseTransitions = maybe(t, "second's", func() int32 { return 7 })
			m.update(current, some, rapid.SampledFrom([]string{"me", "other"}).Draw(t, "second"), testNow.Add(-time.Minute))
			current = some
		}
		next := alter(t, current)
		manager := rapid.SampledFrom([]string{"me", "me", "me", "other", ""}).Draw(t, "writer")

		before, sent := current.DeepCopy(), next.DeepCopy()
		quick := next.DeepCopy()
		if !m.renewals.answer(current, quick, manager, testNow) {
			require.Equal(t, sent, quick, "what is not answered is not touched")
			return
		}
		require.Equal(t, before, current)
		m.update(current, next, manager, testNow)
		require.Equal(t, next, quick)
		answered++
		if len(current.ManagedFields) > 0 && seconds(quick.ManagedFields[len(quick.ManagedFields)-1].Time) == testNow.Unix() {
			changed++
		}
	}
	for range 10 { // enough that both counts below are far from zero
		rapid.Check(t, compare)
	}
	t.Logf("answered %d, of which %d noted a change", answered, changed)
	require.NotZero(t, answered)
	require.NotZero(t, changed)
}

// renewed is a Lease as a leader left it, and its next renewal.
func renewed(t testing.TB, m *Manager) (current, next *coordinationv1.Lease) {
	current = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}}
	current.Spec = coordinationv1.LeaseSpec{
		HolderIdentity: ptr.To("node-1"), LeaseDurationSeconds: ptr.To[int32](15), LeaseTransitions: ptr.To[int32](3),
		AcquireTime: &metav1.MicroTime{Time: testNow}, RenewTime: &metav1.MicroTime{Time: testNow},
	}
	m.Update(nil, current, "me", testNow)
	current.UID, current.ResourceVersion = "u", "7"
	next = current.DeepCopy()
	next.Spec.RenewTime = &metav1.MicroTime{Time: testNow.Add(2 * time.Second)}
	require.Len(t, current.ManagedFields, 1)
	return current, next
}

func TestARenewalIsAnswered(t *testing.T) {
	m, err := New(lease.Kind)
	require.NoError(t, err)
	current, next := renewed(t, m)
	require.True(t, m.renewals.answer(current, next, "me", testNow.Add(2*time.Second)))
	require.Equal(t, testNow.Add(2*time.Second).Unix(), next.ManagedFields[0].Time.Unix())
	require.False(t, m.renewals.answer(current, next, "thief", testNow), "a field changes hands")
}

func TestMoreThanTenUpdatersAreLeftToTheLibrary(t *testing.T) {
	m, err := New(lease.Kind)
	require.NoError(t, err)
	current, next := renewed(t, m)
	for _, manager := range []string{"b", "c", "d", "e", "f", "g", "h", "i", "j"} {
		entry := *current.ManagedFields[0].DeepCopy()
		entry.Manager, entry.FieldsV1 = manager, metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{"f:`+manager+`":{}}}}`)
		current.ManagedFields = append(current.ManagedFields, entry)
	}
	next.ManagedFields = nil
	require.True(t, m.renewals.answer(current, next.DeepCopy(), "me", testNow), "ten")

	eleventh := current.ManagedFields[9]
	eleventh.Manager = "k"
	current.ManagedFields = append(current.ManagedFields, eleventh)
	require.False(t, m.renewals.answer(current, next, "me", testNow))
	m.Update(current, next, "me", testNow)
	require.Len(t, next.ManagedFields, 10)
}

func TestTextsAreForgotten(t *testing.T) {
	r := newRenewals()
	for i := range 3 * remembered {
		text := `{"f:metadata":{"f:annotations":{"f:` + time.Duration(i).String() + `":{}}}}`
		r.read(&metav1.ManagedFieldsEntry{
			Operation: "Update", APIVersion: leaseVersion, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(text)})
	}
	require.LessOrEqual(t, len(r.recent)+len(r.older), 2*remembered)
}

func BenchmarkUpdate(b *testing.B) {
	m, err := New(lease.Kind)
	require.NoError(b, err)
	current, next := renewed(b, m)
	b.Run("library", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m.update(current, next, "me", testNow)
		}
	})
	b.Run("renewal", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m.Update(current, next, "me", testNow)
		}
	})
}
