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
	background, foreground, orphan := policy(metav1.DeletePropagationBackground), policy(metav1.DeletePropagationForeground), policy(metav1.DeletePropagationOrphan)
	for name, c := range map[string]struct {
		finalizers []string
		options    *metav1.DeleteOptions
		shown      []string // none: nothing is to be told
		kept       []string // none: the object goes
	}{
		"plain":                             {nil, nil, nil, nil},
		"background":                        {nil, background, nil, nil},
		"orphan":                            {nil, orphan, []string{"orphan"}, nil},
		"foreground":                        {nil, foreground, []string{"foregroundDeletion"}, nil},
		"orphanDependents":                  {nil, &metav1.DeleteOptions{OrphanDependents: ptr.To(true)}, []string{"orphan"}, nil},
		"orphanDependents false":            {[]string{"orphan"}, &metav1.DeleteOptions{OrphanDependents: ptr.To(false)}, nil, nil},
		"held":                              {[]string{"a/b"}, nil, []string{"a/b"}, []string{"a/b"}},
		"held and orphan":                   {[]string{"a/b"}, orphan, []string{"a/b", "orphan"}, []string{"a/b"}},
		"held and foreground":               {[]string{"a/b"}, foreground, []string{"a/b", "foregroundDeletion"}, []string{"a/b"}},
		"there from the beginning":          {[]string{"foregroundDeletion"}, nil, []string{"foregroundDeletion"}, nil},
		"there from the beginning, held":    {[]string{"foregroundDeletion", "a/b"}, nil, []string{"foregroundDeletion", "a/b"}, []string{"a/b"}},
		"there twice":                       {[]string{"orphan", "orphan"}, orphan, []string{"orphan", "orphan"}, nil},
		"background takes the old away":     {[]string{"foregroundDeletion"}, background, nil, nil},
		"background, held":                  {[]string{"orphan", "a/b"}, background, []string{"a/b"}, []string{"a/b"}},
		"foreground in place of orphan":     {[]string{"orphan", "a/b"}, foreground, []string{"a/b", "foregroundDeletion"}, []string{"a/b"}},
		"repeated finalizers are kept":      {[]string{"a/b", "a/b"}, nil, []string{"a/b", "a/b"}, []string{"a/b", "a/b"}},
		"others may be named like a domain": {[]string{"kubernetes"}, orphan, []string{"kubernetes", "orphan"}, []string{"kubernetes"}},
		"grace period is of no interest":    {nil, &metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](-7)}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			current := valid(func(l *coordinationv1.Lease) { l.Finalizers = c.finalizers })
			shown, kept := object.Delete(current, c.options, now)
			assert.Nil(t, current.DeletionTimestamp, "current is not touched")
			assert.Equal(t, c.finalizers, current.Finalizers, "current is not touched")
			for _, one := range []struct {
				got  object.Object
				want []string
			}{{shown, c.shown}, {kept, c.kept}} {
				if one.want == nil {
					assert.Nil(t, one.got)
					continue
				}
				require.NotNil(t, one.got)
				assert.Equal(t, one.want, one.got.GetFinalizers())
				assert.Equal(t, "2026-03-04T04:06:07Z", one.got.GetDeletionTimestamp().Format(time.RFC3339Nano))
				assert.EqualValues(t, ptr.To[int64](0), one.got.GetDeletionGracePeriodSeconds())
			}
		})
	}
}

func TestDeletingTwiceChangesNothing(t *testing.T) {
	current := valid(func(l *coordinationv1.Lease) { l.Finalizers, l.Generation = []string{"a/b"}, 4 })
	_, once := object.Delete(current, nil, now)
	require.EqualValues(t, 5, once.GetGeneration())

	orphan := metav1.DeletePropagationOrphan
	for _, options := range []*metav1.DeleteOptions{nil, {PropagationPolicy: &orphan}} {
		_, twice := object.Delete(once, options, now.Add(time.Hour))
		assert.True(t, object.SameMetadata(object.Meta(twice), object.Meta(once)))
	}
}

func TestAnUpdateThatClearsTheLastFinalizerReleases(t *testing.T) {
	held := valid(func(l *coordinationv1.Lease) { l.Finalizers = []string{"a/b"} })
	_, kept := object.Delete(held, nil, now)
	marked := object.Meta(kept)
	cleared := marked.DeepCopy()
	cleared.Finalizers = nil

	assert.True(t, object.Released(cleared, marked))
	assert.False(t, object.Released(marked, marked), "still held")
	cleared.Finalizers = []string{"orphan"}
	assert.True(t, object.Released(cleared, marked), "held by nobody who is here")
	assert.False(t, object.Released(cleared, &held.ObjectMeta), "never deleted")
}
