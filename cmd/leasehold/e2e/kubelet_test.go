package e2e

import (
	"context"
	"net"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/testr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/connrotation"
	nodelease "k8s.io/component-helpers/apimachinery/lease"
	"k8s.io/utils/clock"
)

// nodeLeases is the namespace of what kubelets renew.
const nodeLeases = "kube-node-lease"

// owner is the Node that a kubelet runs on.
var owner = metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: "worker", UID: "2b5e1f0c-3c6d-4c8e-9a64-0f3f7c0f1a11"}

// TestKubeletKeepsItsLease runs the library by which kubelet renews the Lease of its Node, set up as kubelet sets it up.
func TestKubeletKeepsItsLease(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	lease := c.watchLease(t, 2, nodeLeases, owner.Name)
	k := startKubelet(t, c, patience)
	lease.awaitRenewals(5)
	versions := lease.versions()
	assertRenewals(t, versions)
	assert.Equal(t, []string{"GET 404", "POST 201", "PUT 200", "PUT 200"}, k.exchanges()[:4], "what was last read or written is good enough to write")

	// Another changes the Lease: the next renewal conflicts, is made anew of what is there, and keeps the change.
	leases := c.leases(t, 3, nodeLeases)
	_, err := leases.Patch(t.Context(), owner.Name, types.MergePatchType, []byte(`{"metadata":{"labels":{"kept":"yes"}}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	k.awaitExchanges("PUT 409", "GET 200", "PUT 200")
	lease.awaitRenewals(2)
	versions = lease.versions()
	assert.Equal(t, "yes", versions[len(versions)-1].Labels["kept"])
	assert.Equal(t, versions[0].UID, versions[len(versions)-1].UID)

	// kubelet starts again, and goes on with what there is.
	k.stop()
	k = startKubelet(t, c, patience)
	lease.awaitRenewals(3)
	assert.Equal(t, []string{"GET 200", "PUT 200", "PUT 200"}, k.exchanges()[:3])
	assertRenewals(t, lease.versions())
	for contentType := range k.contentTypes() {
		assert.Equal(t, protobuf, contentType)
	}
}

// TestKubeletMakesItsLeaseAgain deletes the Lease under a kubelet.
func TestKubeletMakesItsLeaseAgain(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	k := startKubelet(t, c, patience)
	k.awaitExchanges("POST 201", "PUT 200")
	leases := c.leases(t, 3, nodeLeases)
	before, err := leases.Get(t.Context(), owner.Name, metav1.GetOptions{})
	require.NoError(t, err)
	require.NoError(t, leases.Delete(t.Context(), owner.Name, metav1.DeleteOptions{}))
	k.awaitExchanges("PUT 409", "GET 404", "POST 201", "PUT 200")
	after, err := leases.Get(t.Context(), owner.Name, metav1.GetOptions{})
	require.NoError(t, err)
	assert.NotEqual(t, before.UID, after.UID)
	assert.Equal(t, before.OwnerReferences, after.OwnerReferences)
}

// TestKubeletGoesOnAfterItsNetworkFailed lets requests vanish until kubelet has closed its connections, as it does when
// several tries in a row have failed. Some of what was sent arrives later.
func TestKubeletGoesOnAfterItsNetworkFailed(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	lease := c.watchLease(t, 2, nodeLeases, owner.Name)
	k := startKubelet(t, c, 2*time.Second)
	lease.awaitRenewals(3)
	k.network.cut()
	for range 2 {
		select {
		case <-k.closed:
		case <-time.After(patience):
			require.FailNow(t, "kubelet did not close its connections")
		}
	}
	k.network.heal()
	lease.awaitRenewals(5)
	assertRenewals(t, lease.versions())
}

// assertRenewals checks that a kubelet kept its Lease as it was but for its time.
func assertRenewals(t *testing.T, versions []coordinationv1.Lease) {
	t.Helper()
	first := versions[0]
	require.NotEmpty(t, first.UID)
	assert.Equal(t, []metav1.OwnerReference{owner}, first.OwnerReferences)
	assert.Equal(t, owner.Name, *first.Spec.HolderIdentity)
	assert.EqualValues(t, 40, *first.Spec.LeaseDurationSeconds)
	for i, next := range versions[1:] {
		previous := versions[i]
		assert.Less(t, revision(t, &previous), revision(t, &next))
		assert.False(t, next.Spec.RenewTime.Before(previous.Spec.RenewTime), "renewed at %s and then at %s", previous.Spec.RenewTime, next.Spec.RenewTime)
		next.ResourceVersion, next.Spec.RenewTime, next.Labels, next.ManagedFields = first.ResourceVersion, first.Spec.RenewTime, first.Labels, first.ManagedFields
		require.Equal(t, first, next)
	}
}

// kubelet renews the Lease of its Node through a network of its own.
type kubelet struct {
	traffic
	t       *testing.T
	network *relay
	closed  chan struct{} // gets a value after connections were closed
	stop    func()
}

// startKubelet renews every 100 ms rather than every 10 s.
func startKubelet(t *testing.T, c *cluster, requestTimeout time.Duration) *kubelet {
	t.Helper()
	k := &kubelet{t: t, network: startRelay(t, net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port))), closed: make(chan struct{}, 1)}
	config := k.over(c.config(t, nodeName(1)))
	config.Host = "https://" + k.network.address()
	config.ContentType, config.AcceptContentTypes = protobuf, protobuf+",application/json"
	config.Timeout = requestTimeout
	dialer := connrotation.NewDialer((&net.Dialer{Timeout: requestTimeout}).DialContext)
	config.Dial = dialer.DialContext
	closeAll := func() {
		dialer.CloseAll()
		select {
		case k.closed <- struct{}{}:
		default:
		}
	}
	own := func(lease *coordinationv1.Lease) error {
		if len(lease.OwnerReferences) == 0 {
			lease.OwnerReferences = []metav1.OwnerReference{owner}
		}
		return nil
	}
	renewing := nodelease.NewController(clock.RealClock{}, clientset(t, config), owner.Name, 40, closeAll, 100*time.Millisecond, owner.Name, nodeLeases, own)
	ctx, cancel := context.WithCancel(logr.NewContext(context.Background(), testr.New(t)))
	var running sync.WaitGroup
	running.Go(func() { renewing.Run(ctx) })
	k.stop = func() {
		cancel()
		running.Wait()
	}
	t.Cleanup(k.stop)
	return k
}

// awaitExchanges waits until these methods and answers came one after the other.
func (k *kubelet) awaitExchanges(want ...string) {
	k.t.Helper()
	require.Eventually(k.t, func() bool {
		have := k.exchanges()
		for ; len(have) >= len(want); have = have[1:] {
			if slices.Equal(have[:len(want)], want) {
				return true
			}
		}
		return false
	}, patience, 20*time.Millisecond, "%v", want)
}
