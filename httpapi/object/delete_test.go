package object_test

//lint:file-ignore SA1019 orphanDependents is deprecated, but clients may still send it.

import (
	"testing"
	"time"

	"github.com/leasehold/leasehold/httpapi/object"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestDeleteLeavesTheFinalizersThatHold(t *testing.T) {
	policy := func(p metav1.DeletionPropagation) *metav1.DeleteOptions {
		return &metav1.DeleteOptions{PropagationPolicy: &p}
	}
	for name, c := range map[string]struct {
		finalizers []string
		options    *metav1.DeleteOptions
		left       []string // none: the object goes
	}{
		"plain":                          {nil, nil, nil},
		"background":                     {nil, policy(metav1.DeletePropagationBackground), nil},
		"orphan":                         {nil, policy(metav1.DeletePropagationOrphan), []string{"orphan"}},
		"foreground":                     {nil, policy(metav1.DeletePropagationForeground), []string{"foregroundDeletion"}},
		"orphanDependents":               {nil, &metav1.DeleteOptions{OrphanDependents: ptr.To(true)}, []string{"orphan"}},
		"orphanDependents false":         {[]string{"orphan"}, &metav1.DeleteOptions{OrphanDependents: ptr.To(false)}, nil},
		"held":                           {[]string{"a/b"}, nil, []string{"a/b"}},
		"held and orphan":                {[]string{"a/b"}, policy(metav1.DeletePropagationOrphan), []string{"a/b", "orphan"}},
		"no policy keeps the old one":    {[]string{"foregroundDeletion", "a/b"}, nil, []string{"foregroundDeletion", "a/b"}},
		"background takes the old away":  {[]string{"foregroundDeletion"}, policy(metav1.DeletePropagationBackground), nil},
		"foreground in place of orphan":  {[]string{"orphan", "a/b"}, policy(metav1.DeletePropagationForeground), []string{"a/b", "foregroundDeletion"}},
		"repeated finalizers are kept":   {[]string{"a/b", "a/b"}, nil, []string{"a/b", "a/b"}},
		"grace period is of no interest": {nil, &metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](-7)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			current := valid(func(l *coordinationv1.Lease) { l.Finalizers = c.finalizers })
			next := object.Delete(current, c.options, now)
			if c.left == nil {
				require.Nil(t, next)
				return
			}
			require.NotNil(t, next)
			assert.Equal(t, c.left, next.GetFinalizers())
			assert.Equal(t, "2026-03-04T04:06:07Z", next.GetDeletionTimestamp().Format(time.RFC3339Nano))
			assert.EqualValues(t, ptr.To[int64](0), next.GetDeletionGracePeriodSeconds())
			assert.Nil(t, current.DeletionTimestamp, "current is not touched")
		})
	}
}

func TestDeletingTwiceChangesNothing(t *testing.T) {
	current := valid(func(l *coordinationv1.Lease) { l.Finalizers, l.Generation = []string{"a/b"}, 4 })
	once := object.Delete(current, nil, now)
	require.EqualValues(t, 5, once.GetGeneration())

	twice := object.Delete(once, nil, now.Add(time.Hour))
	assert.True(t, object.SameMetadata(object.Meta(twice), object.Meta(once)))
}

func TestAnUpdateThatClearsTheLastFinalizerReleases(t *testing.T) {
	held := valid(func(l *coordinationv1.Lease) { l.Finalizers = []string{"a/b"} })
	marked := object.Meta(object.Delete(held, nil, now))
	cleared := marked.DeepCopy()
	cleared.Finalizers = nil

	assert.True(t, object.Released(cleared, marked))
	assert.False(t, object.Released(marked, marked), "still held")
	assert.False(t, object.Released(cleared, &held.ObjectMeta), "never deleted")
}
