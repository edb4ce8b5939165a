package object_test

import (
	"strings"
	"testing"

	"github.com/leasehold/leasehold/httpapi/object"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestCreateOverwritesSystemFieldsButKeepsGeneration(t *testing.T) {
	next := valid(func(l *coordinationv1.Lease) {
		l.UID, l.Generation = "theirs", 8
		l.SetSelfLink("/x")
		l.CreationTimestamp = metav1.Unix(1, 0)
		l.DeletionTimestamp = &metav1.Time{Time: now}
		l.DeletionGracePeriodSeconds = new(int64)
	})
	object.PrepareCreate(&next.ObjectMeta, now, "ours")

	assert.EqualValues(t, "ours", next.UID)
	assert.Equal(t, "2026-03-04T04:06:07Z", next.CreationTimestamp.Format("2006-01-02T15:04:05.999Z07:00"))
	assert.Nil(t, next.DeletionTimestamp)
	assert.Nil(t, next.DeletionGracePeriodSeconds)
	assert.Empty(t, next.GetSelfLink())
	assert.EqualValues(t, 8, next.Generation)
}

func TestUpdateResetsWhatItCannotChange(t *testing.T) {
	current := valid(func(l *coordinationv1.Lease) {
		l.CreationTimestamp, l.Generation = metav1.Unix(100, 0), 3
		l.DeletionTimestamp = &metav1.Time{Time: now}
		l.DeletionGracePeriodSeconds = new(int64)
	})
	next := valid(func(l *coordinationv1.Lease) {
		l.UID, l.Generation, l.CreationTimestamp = "", 9, metav1.Unix(200, 0)
		l.SetSelfLink("/x")
	})
	object.PrepareUpdate(&next.ObjectMeta, &current.ObjectMeta)

	assert.True(t, object.SameMetadata(&next.ObjectMeta, &current.ObjectMeta))
	assert.Empty(t, object.ValidateUpdate(&next.ObjectMeta, &current.ObjectMeta))
}

func TestAnUpdateThatMeansAnotherUIDKeepsIt(t *testing.T) {
	next := valid(func(l *coordinationv1.Lease) { l.UID = "other" })
	object.PrepareUpdate(&next.ObjectMeta, &valid(nil).ObjectMeta)
	assert.EqualValues(t, "other", next.UID)
}

func TestGenerateName(t *testing.T) {
	require.Regexp(t, `^job-[bcdfghjklmnpqrstvwxz2456789]{5}$`, object.GenerateName("job-"))
	require.NotEqual(t, object.GenerateName("job-"), object.GenerateName("job-"))

	long := object.GenerateName(strings.Repeat("g", 249))
	require.Regexp(t, `^g{248}[bcdfghjklmnpqrstvwxz2456789]{5}$`, long)
}

func TestANameWinsOverGenerateName(t *testing.T) {
	next := valid(func(l *coordinationv1.Lease) { l.GenerateName = "gen-" })
	object.PrepareCreate(&next.ObjectMeta, now, "u")
	assert.Equal(t, "a", next.Name)
	assert.Equal(t, "gen-", next.GenerateName)

	next = valid(func(l *coordinationv1.Lease) { l.Name, l.GenerateName = "", "gen-" })
	object.PrepareCreate(&next.ObjectMeta, now, "u")
	assert.Regexp(t, `^gen-.{5}$`, next.Name)
}
