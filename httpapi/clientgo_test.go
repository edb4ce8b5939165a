package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/leasehold/leasehold/fsm"
)

// clientConfig is a real client's configuration for the door, in an encoding.
func (d *door) clientConfig(contentType string) *rest.Config {
	return &rest.Config{
		Host: d.server.URL, BearerToken: adminToken, TLSClientConfig: rest.TLSClientConfig{Insecure: true},
		ContentConfig: rest.ContentConfig{ContentType: contentType, AcceptContentTypes: contentType},
		QPS:           -1, UserAgent: "clientgo-test/1", WarningHandler: rest.NoWarnings{},
	}
}

const (
	asJSON     = "application/json"
	asProtobuf = "application/vnd.kubernetes.protobuf"
)

func TestTypedClients(t *testing.T) {
	for _, encoding := range []string{asJSON, asProtobuf} {
		t.Run(encoding, func(t *testing.T) {
			d := openDoor(t)
			client, err := coordinationclient.NewForConfig(d.clientConfig(encoding))
			require.NoError(t, err)
			leases, ctx := client.Leases("ns"), t.Context()

			now := metav1.NewMicroTime(time.UnixMicro(1700000000123456))
			made, err := leases.Create(ctx, &coordinationv1.Lease{
				ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"k": "v"}},
				Spec:       coordinationv1.LeaseSpec{HolderIdentity: new("me"), LeaseDurationSeconds: new(int32(15)), RenewTime: &now},
			}, metav1.CreateOptions{})
			require.NoError(t, err)
			assert.NotEmpty(t, made.UID)
			assert.True(t, now.Equal(made.Spec.RenewTime))

			watching, err := leases.Watch(ctx, metav1.ListOptions{ResourceVersion: made.ResourceVersion})
			require.NoError(t, err)
			defer watching.Stop()

			later := metav1.NewMicroTime(now.Add(time.Second))
			made.Spec.RenewTime = &later
			renewed, err := leases.Update(ctx, made, metav1.UpdateOptions{})
			require.NoError(t, err)
			_, err = leases.Update(ctx, made, metav1.UpdateOptions{})
			assert.True(t, apierrors.IsConflict(err), "%v", err)
			patched, err := leases.Patch(ctx, "a", types.MergePatchType, []byte(`{"spec":{"holderIdentity":"you"}}`), metav1.PatchOptions{})
			require.NoError(t, err)

			got, err := leases.Get(ctx, "a", metav1.GetOptions{})
			require.NoError(t, err)
			assert.Equal(t, patched, got)
			list, err := leases.List(ctx, metav1.ListOptions{LabelSelector: "k=v"})
			require.NoError(t, err)
			require.Len(t, list.Items, 1)
			listed := list.Items[0]
			listed.TypeMeta = got.TypeMeta
			assert.Equal(t, *got, listed)

			require.NoError(t, leases.Delete(ctx, "a", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &got.UID}}))
			_, err = leases.Get(ctx, "a", metav1.GetOptions{})
			assert.True(t, apierrors.IsNotFound(err), "%v", err)

			for _, want := range []struct {
				kind    apiwatch.EventType
				version string
			}{{apiwatch.Modified, renewed.ResourceVersion}, {apiwatch.Modified, patched.ResourceVersion}, {apiwatch.Deleted, ""}} {
				event := received(t, watching)
				assert.Equal(t, want.kind, event.Type)
				if want.version != "" {
					assert.Equal(t, want.version, event.Object.(*coordinationv1.Lease).ResourceVersion)
				}
			}
		})
	}
}

func received(t testing.TB, watching apiwatch.Interface) apiwatch.Event {
	t.Helper()
	select {
	case event, open := <-watching.ResultChan():
		require.True(t, open, "the watch has ended")
		return event
	case <-time.After(patience):
		require.FailNow(t, "no event came")
	}
	return apiwatch.Event{}
}

func TestDynamicClient(t *testing.T) {
	d := openDoor(t)
	client, err := dynamic.NewForConfig(d.clientConfig(""))
	require.NoError(t, err)
	leases := client.Resource(coordinationv1.SchemeGroupVersion.WithResource("leases")).Namespace("ns")
	watching, err := leases.Watch(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	defer watching.Stop()
	made, err := leases.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
		"metadata": map[string]any{"name": "a"}, "spec": map[string]any{"leaseTransitions": int64(2)},
	}}, metav1.CreateOptions{})
	require.NoError(t, err)
	list, err := leases.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, list.Items, 1)
	assert.Equal(t, made.GetUID(), list.Items[0].GetUID())
	assert.Equal(t, made, received(t, watching).Object)
}

func TestMetadataClient(t *testing.T) {
	d := openDoor(t)
	d.store.change(t, fsm.OpCreate, "ns", "a", map[string]string{"k": "v"})
	client, err := metadata.NewForConfig(d.clientConfig(""))
	require.NoError(t, err)
	leases := client.Resource(coordinationv1.SchemeGroupVersion.WithResource("leases")).Namespace("ns")
	one, err := leases.Get(t.Context(), "a", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, "v", one.Labels["k"])
	list, err := leases.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, list.Items, 1)
	watching, err := leases.Watch(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	defer watching.Stop()
	assert.Equal(t, one.ResourceVersion, received(t, watching).Object.(*metav1.PartialObjectMetadata).ResourceVersion)
}

// An informer of today begins with a watch that sends what is there; it must never need a list, and its cache must be
// the list's equal after many changes.
func TestInformerSyncsByWatchList(t *testing.T) {
	for _, encoding := range []string{asJSON, asProtobuf} {
		t.Run(encoding, func(t *testing.T) {
			const leaseCount, changes = 50, 1000
			d := openDoor(t)
			var lists, watchLists atomic.Int64
			config := d.clientConfig(encoding)
			config.Wrap(func(next http.RoundTripper) http.RoundTripper {
				return roundTrip(func(r *http.Request) (*http.Response, error) {
					switch query := r.URL.Query(); {
					case r.Method == http.MethodGet && query.Get("sendInitialEvents") == "true":
						watchLists.Add(1)
					case r.Method == http.MethodGet && query.Get("watch") == "":
						lists.Add(1)
					}
					return next.RoundTrip(r)
				})
			})
			client, err := coordinationclient.NewForConfig(config)
			require.NoError(t, err)
			leases, ctx := client.Leases("ns"), t.Context()
			for i := range leaseCount {
				d.store.change(t, fsm.OpCreate, "ns", fmt.Sprintf("l%d", i), nil)
			}

			source := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
				ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return leases.List(ctx, o) },
				WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (apiwatch.Interface, error) {
					return leases.Watch(ctx, o)
				},
			}, client)
			informer := cache.NewSharedIndexInformer(source, &coordinationv1.Lease{}, 0, cache.Indexers{})
			ctx, cancel := context.WithCancel(ctx)
			stopped := make(chan struct{})
			go func() {
				defer close(stopped)
				informer.RunWithContext(ctx)
			}()
			defer func() {
				cancel()
				<-stopped
			}()
			waiting, cancelWaiting := context.WithTimeout(ctx, patience)
			defer cancelWaiting()
			require.True(t, cache.WaitForCacheSync(waiting.Done(), informer.HasSynced))
			assert.Len(t, informer.GetStore().List(), leaseCount)
			assert.Zero(t, lists.Load(), "the informer had to list")
			assert.EqualValues(t, 1, watchLists.Load())

			for i := range changes {
				name := fmt.Sprintf("l%d", i*7%(leaseCount+10))
				switch {
				case i%13 == 0:
					_ = leases.Delete(ctx, name, metav1.DeleteOptions{})
				default:
					_, err := leases.Patch(ctx, name, types.MergePatchType, fmt.Appendf(nil, `{"spec":{"holderIdentity":"h%d"}}`, i), metav1.PatchOptions{})
					if apierrors.IsNotFound(err) {
						_, err = leases.Create(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
					}
					require.NoError(t, err)
				}
			}
			list, err := leases.List(ctx, metav1.ListOptions{})
			require.NoError(t, err)
			want := map[string]string{}
			for _, lease := range list.Items {
				want[lease.Name] = lease.ResourceVersion
			}
			assert.EventuallyWithT(t, func(t *assert.CollectT) {
				held := map[string]string{}
				for _, lease := range informer.GetStore().List() {
					held[lease.(*coordinationv1.Lease).Name] = lease.(*coordinationv1.Lease).ResourceVersion
				}
				assert.Equal(t, want, held)
			}, patience, 10*time.Millisecond)
			assert.EqualValues(t, 1, watchLists.Load(), "the watch was never lost")
		})
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
