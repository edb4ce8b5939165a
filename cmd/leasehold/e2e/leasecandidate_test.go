package e2e

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1alpha2 "k8s.io/api/coordination/v1alpha2"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// TestCandidatesAreOneInBothVersions writes LeaseCandidates in one version at one node, and reads and watches them in the
// other at another.
func TestCandidatesAreOneInBothVersions(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	for name, contentType := range map[string]string{"json": "application/json", "protobuf": protobuf} {
		t.Run(name, func(t *testing.T) {
			ctx, namespace := t.Context(), "candidates-"+name
			var spoken traffic
			config := spoken.over(c.config(t, nodeName(1)))
			config.ContentType = contentType
			beta := clientset(t, config).CoordinationV1beta1().LeaseCandidates(namespace)
			config = spoken.over(c.config(t, nodeName(2)))
			config.ContentType = contentType
			alpha := clientset(t, config).CoordinationV1alpha2().LeaseCandidates(namespace)
			events, err := alpha.Watch(ctx, metav1.ListOptions{})
			require.NoError(t, err)
			defer events.Stop()
			next := func(want watch.EventType) *coordinationv1alpha2.LeaseCandidate {
				event := <-events.ResultChan()
				require.Equal(t, want, event.Type, "%v", event.Object)
				return event.Object.(*coordinationv1alpha2.LeaseCandidate)
			}

			created, err := beta.Create(ctx, newLeaseCandidate("one", "1.2.0"), metav1.CreateOptions{})
			require.NoError(t, err)
			added := next(watch.Added)
			assert.Equal(t, created.ObjectMeta.UID, added.UID)
			assert.Equal(t, created.ResourceVersion, added.ResourceVersion)
			assert.Equal(t, coordinationv1alpha2.LeaseCandidateSpec(created.Spec), added.Spec)

			added.Spec.BinaryVersion = "1.3.0"
			updated, err := alpha.Update(ctx, added, metav1.UpdateOptions{})
			require.NoError(t, err)
			assert.Equal(t, updated.Spec, next(watch.Modified).Spec)
			got, err := beta.Get(ctx, "one", metav1.GetOptions{})
			require.NoError(t, err)
			assert.Equal(t, coordinationv1beta1.LeaseCandidateSpec(updated.Spec), got.Spec)
			assert.Equal(t, updated.ResourceVersion, got.ResourceVersion)
			_, err = beta.Update(ctx, created, metav1.UpdateOptions{})
			assert.True(t, errors.IsConflict(err), "%v", err)
			_, err = beta.Patch(ctx, "one", types.MergePatchType, []byte(`{"spec":{"leaseName":"else"}}`), metav1.PatchOptions{})
			assert.True(t, errors.IsInvalid(err), "%v", err)

			list, err := alpha.List(ctx, metav1.ListOptions{})
			require.NoError(t, err)
			assert.Equal(t, []coordinationv1alpha2.LeaseCandidate{*updated}, list.Items)
			require.NoError(t, beta.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
			assert.Equal(t, updated.UID, next(watch.Deleted).UID)
			for answered := range spoken.contentTypes() {
				assert.Contains(t, answered, contentType)
			}
		})
	}
}

// TestInformerOfCandidatesNeverLists follows LeaseCandidates as the controller does that elects from them.
func TestInformerOfCandidatesNeverLists(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	var spoken traffic
	config := spoken.over(c.config(t, nodeName(1)))
	config.ContentType = protobuf
	writing := clientset(t, c.config(t, nodeName(2))).CoordinationV1beta1().LeaseCandidates("components")
	_, err := writing.Create(t.Context(), newLeaseCandidate("one", "1.2.0"), metav1.CreateOptions{})
	require.NoError(t, err)

	factory := informers.NewSharedInformerFactory(clientset(t, config), 0)
	candidates := factory.Coordination().V1beta1().LeaseCandidates()
	lister, told := candidates.Lister().LeaseCandidates("components"), newTranscript()
	_, err = candidates.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { told.add("added " + o.(*coordinationv1beta1.LeaseCandidate).Name) },
		UpdateFunc: func(_, o any) { told.add("is " + o.(*coordinationv1beta1.LeaseCandidate).Spec.BinaryVersion) },
		DeleteFunc: func(o any) { told.add("deleted " + o.(*coordinationv1beta1.LeaseCandidate).Name) },
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	factory.StartWithContext(ctx)
	t.Cleanup(func() {
		cancel()
		factory.Shutdown()
	})
	for resource, synced := range factory.WaitForCacheSync(ctx.Done()) {
		require.True(t, synced, resource)
	}
	one, err := lister.Get("one")
	require.NoError(t, err)
	one = one.DeepCopy()
	one.Spec.BinaryVersion = "1.3.0"
	_, err = writing.Update(t.Context(), one, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.NoError(t, writing.Delete(t.Context(), "one", metav1.DeleteOptions{}))
	assert.True(t, told.await(func(lines []string) bool { return len(lines) == 3 }))
	lines, _ := told.said()
	assert.Equal(t, []string{"added one", "is 1.3.0", "deleted one"}, lines)
	lists, watchLists := spoken.reads()
	assert.Equal(t, []int{0, 1}, []int{lists, watchLists})
	assert.Equal(t, map[string]int{protobuf + ";stream=watch": 1}, spoken.contentTypes())
}

// newLeaseCandidate is a candidate of one binary for a lock.
func newLeaseCandidate(name, version string) *coordinationv1beta1.LeaseCandidate {
	return &coordinationv1beta1.LeaseCandidate{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: coordinationv1beta1.LeaseCandidateSpec{
			LeaseName: "lock", BinaryVersion: version, EmulationVersion: version, Strategy: "OldestEmulationVersion",
		},
	}
}
