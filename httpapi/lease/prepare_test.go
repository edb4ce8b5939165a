package lease_test

import (
	"strings"
	"testing"

	"github.com/leasehold/leasehold/httpapi/lease"
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
	lease.PrepareCreate(next, now, "ours")

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
	lease.PrepareUpdate(next, current)

	assert.True(t, lease.Equal(next, current))
	assert.Empty(t, lease.ValidateUpdate(next, current))
}

func TestAnUpdateThatMeansAnotherUIDKeepsIt(t *testing.T) {
	next := valid(func(l *coordinationv1.Lease) { l.UID = "other" })
	lease.PrepareUpdate(next, valid(nil))
	assert.EqualValues(t, "other", next.UID)
}

func TestGenerateName(t *testing.T) {
	require.Regexp(t, `^job-[bcdfghjklmnpqrstvwxz2456789]{5}$`, lease.GenerateName("job-"))
	require.NotEqual(t, lease.GenerateName("job-"), lease.GenerateName("job-"))

	long := lease.GenerateName(strings.Repeat("g", 249))
	require.Regexp(t, `^g{248}[bcdfghjklmnpqrstvwxz2456789]{5}$`, long)
}

func TestANameWinsOverGenerateName(t *testing.T) {
	next := valid(func(l *coordinationv1.Lease) { l.GenerateName = "gen-" })
	lease.PrepareCreate(next, now, "u")
	assert.Equal(t, "a", next.Name)
	assert.Equal(t, "gen-", next.GenerateName)

	next = valid(func(l *coordinationv1.Lease) { l.Name, l.GenerateName = "", "gen-" })
	lease.PrepareCreate(next, now, "u")
	assert.Regexp(t, `^gen-.{5}$`, next.Name)
}
