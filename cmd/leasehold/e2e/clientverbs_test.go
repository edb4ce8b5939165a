package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	applycoordination "k8s.io/client-go/applyconfigurations/coordination/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
)

var leaseResource = coordinationv1.SchemeGroupVersion.WithResource("leases")

// TestTypedClientsSpeakBothEncodings calls every method of the typed client; what node 1 is told node 2 knows.
func TestTypedClientsSpeakBothEncodings(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	for name, contentType := range map[string]string{"json": "application/json", "protobuf": protobuf} {
		t.Run(name, func(t *testing.T) {
			namespace := "typed-" + name
			var spoken traffic
			config := spoken.over(c.config(t, "node-1"))
			config.ContentType = contentType
			leases := clientset(t, config).CoordinationV1().Leases(namespace)
			other := c.leases(t, 2, namespace)
			ctx := t.Context()

			events, err := leases.Watch(ctx, metav1.ListOptions{})
			require.NoError(t, err)
			defer events.Stop()
			next := func(want watch.EventType) *coordinationv1.Lease {
				event := <-events.ResultChan()
				require.Equal(t, want, event.Type, "%v", event.Object)
				return event.Object.(*coordinationv1.Lease)
			}

			created, err := leases.Create(ctx, newLease("one", "me"), metav1.CreateOptions{})
			require.NoError(t, err)
			assert.Equal(t, created, next(watch.Added))
			stale := created.DeepCopy()
			created.Spec.HolderIdentity, created.Spec.LeaseDurationSeconds = new("you"), new(int32(15))
			updated, err := leases.Update(ctx, created, metav1.UpdateOptions{})
			require.NoError(t, err)
			assert.Equal(t, updated, next(watch.Modified))
			_, err = leases.Update(ctx, stale, metav1.UpdateOptions{})
			assert.True(t, errors.IsConflict(err), "%v", err)
			patched, err := leases.Patch(ctx, "one", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
			require.NoError(t, err)
			assert.Equal(t, patched, next(watch.Modified))
			applied, err := leases.Apply(ctx, applycoordination.Lease("two", namespace).
				WithSpec(applycoordination.LeaseSpec().WithHolderIdentity("me")), metav1.ApplyOptions{FieldManager: "test"})
			require.NoError(t, err)
			assert.Equal(t, applied, next(watch.Added))

			got, err := other.Get(ctx, "one", metav1.GetOptions{})
			require.NoError(t, err)
			assert.Equal(t, patched, got)
			list, err := leases.List(ctx, metav1.ListOptions{})
			require.NoError(t, err)
			assert.Equal(t, []coordinationv1.Lease{*patched, *applied}, list.Items)

			require.NoError(t, leases.Delete(ctx, "one", *metav1.NewPreconditionDeleteOptions(string(got.UID))))
			next(watch.Deleted)
			require.NoError(t, leases.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
			next(watch.Deleted)
			_, err = other.Get(ctx, "one", metav1.GetOptions{})
			assert.True(t, errors.IsNotFound(err), "%v", err)
			for answered := range spoken.contentTypes() {
				assert.True(t, strings.HasPrefix(answered, contentType), answered)
			}
		})
	}
}

func TestDynamicAndMetadataClients(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	ctx := t.Context()
	client, err := dynamic.NewForConfig(c.config(t, "node-1"))
	require.NoError(t, err)
	leases := client.Resource(leaseResource).Namespace("dynamic")
	lease := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
		"metadata": map[string]any{"name": "one", "labels": map[string]any{"a": "b"}},
		"spec":     map[string]any{"holderIdentity": "me", "renewTime": "2026-01-02T03:04:05.123456Z"},
	}}
	created, err := leases.Create(ctx, lease, metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, unstructured.SetNestedField(created.Object, int64(15), "spec", "leaseDurationSeconds"))
	updated, err := leases.Update(ctx, created, metav1.UpdateOptions{})
	require.NoError(t, err)
	list, err := client.Resource(leaseResource).List(ctx, metav1.ListOptions{LabelSelector: "a=b"})
	require.NoError(t, err)
	assert.Equal(t, []unstructured.Unstructured{*updated}, list.Items)
	assert.Equal(t, "2026-01-02T03:04:05.123456Z", updated.Object["spec"].(map[string]any)["renewTime"])

	metas, err := metadata.NewForConfig(c.config(t, "node-2"))
	require.NoError(t, err)
	meta, err := metas.Resource(leaseResource).Namespace("dynamic").Get(ctx, "one", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, updated.GetUID(), meta.UID)
	assert.Equal(t, updated.GetResourceVersion(), meta.ResourceVersion)

	require.NoError(t, leases.Delete(ctx, "one", metav1.DeleteOptions{}))
	_, err = metas.Resource(leaseResource).Namespace("dynamic").Get(ctx, "one", metav1.GetOptions{})
	assert.True(t, errors.IsNotFound(err), "%v", err)
}

// TestPagesComeFromAnyNode reads each page of a list at another node; all tell the state at the first.
func TestPagesComeFromAnyNode(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	ctx := t.Context()
	leases := c.leases(t, 1, "pages")
	for i := range 7 {
		_, err := leases.Create(ctx, newLease(fmt.Sprintf("lease-%d", i), "me"), metav1.CreateOptions{})
		require.NoError(t, err)
	}
	var names []string
	options := metav1.ListOptions{Limit: 3}
	for page := 0; page == 0 || options.Continue != ""; page++ {
		list, err := c.leases(t, 1+page%3, "pages").List(ctx, options)
		require.NoError(t, err)
		for _, lease := range list.Items {
			names = append(names, lease.Name)
		}
		options.Continue = list.Continue
		require.NoError(t, leases.Delete(ctx, fmt.Sprintf("lease-%d", 6-page), metav1.DeleteOptions{}))
	}
	assert.Equal(t, []string{"lease-0", "lease-1", "lease-2", "lease-3", "lease-4", "lease-5", "lease-6"}, names)
}
