package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// TestHalfOfAllLeasesGoInOneCall removes five thousand of ten thousand Leases by a label, over protobuf, while others are
// renewed. A watch at another node must tell of each that it is gone, one version after the other.
func TestHalfOfAllLeasesGoInOneCall(t *testing.T) {
	t.Parallel()
	const total, namespace = 10_000, "collected"
	c := startCluster(t)
	config := c.config(t, nodeName(1))
	config.ContentType = protobuf
	leases := clientset(t, config).CoordinationV1().Leases(namespace)
	makeLeases(t, c, namespace, total)
	whole, err := leases.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Equal(t, total, len(whole.Items))

	config = c.config(t, nodeName(2))
	config.ContentType = protobuf
	events, err := clientset(t, config).CoordinationV1().Leases(namespace).Watch(t.Context(), metav1.ListOptions{ResourceVersion: whole.ResourceVersion})
	require.NoError(t, err)
	defer events.Stop()
	load := c.renew([]int{1, 2, 3}, 50, 100)
	require.NoError(t, leases.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "goes=yes"}))
	load.more(t, 100)
	load.stop()
	assert.Empty(t, load.failures())
	t.Logf("slowest renewal meanwhile: %s", load.slowest().Round(time.Millisecond))

	left, err := leases.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	gone := map[string]coordinationv1.Lease{}
	for _, lease := range whole.Items {
		if lease.Labels["goes"] == "yes" {
			gone[lease.Name] = lease
		}
	}
	require.Equal(t, total-len(gone), len(left.Items))
	for _, lease := range left.Items {
		require.Equal(t, "no", lease.Labels["goes"], lease.Name)
	}
	assertDeleted(t, events, gone)
}

// makeLeases creates that many Leases, every other one of which is labelled to go.
func makeLeases(t *testing.T, c *cluster, namespace string, total int) {
	t.Helper()
	const clients = 40
	var making errgroup.Group
	for w := range clients {
		leases := c.leases(t, 1+w%3, namespace)
		making.Go(func() error {
			for i := w; i < total; i += clients {
				lease := newLease(fmt.Sprintf("lease-%05d", i), "me")
				lease.Labels = map[string]string{"goes": map[bool]string{true: "yes", false: "no"}[i%2 == 0]}
				if _, err := leases.Create(t.Context(), lease, metav1.CreateOptions{}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	require.NoError(t, making.Wait())
}

// assertDeleted takes exactly one event for each that is gone: what it was last, at the version of its deletion, which
// is higher than that of the event before.
func assertDeleted(t *testing.T, events watch.Interface, gone map[string]coordinationv1.Lease) {
	t.Helper()
	deadline := time.After(patience)
	last := 0
	for len(gone) > 0 {
		select {
		case event, open := <-events.ResultChan():
			require.True(t, open, "the watch ended, %d events are missing", len(gone))
			require.Equal(t, watch.Deleted, event.Type, "%v", event.Object)
			lease := event.Object.(*coordinationv1.Lease)
			at := revision(t, lease)
			require.Greater(t, at, last, lease.Name)
			last = at
			was, is := gone[lease.Name]
			require.True(t, is, "%s was told twice, or should have stayed", lease.Name)
			was.ResourceVersion = lease.ResourceVersion
			require.Equal(t, &was, lease)
			delete(gone, lease.Name)
		case <-deadline:
			require.FailNow(t, "events are missing", "%d", len(gone))
		}
	}
}
