package e2e

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	listers "k8s.io/client-go/listers/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

const (
	informed = "informed" // the namespace
	writers  = 10         // at once, spread over the nodes
	rounds   = 25         // of four changes, by each writer: a thousand in all
	before   = 40         // Leases that are there before anybody looks
)

func TestInformersKeepUpWithAThousandChanges(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	for i := range before {
		_, err := c.leases(t, 1, informed).Create(ctx, newLease(fmt.Sprintf("old-%02d", i), "me"), metav1.CreateOptions{})
		require.NoError(t, err)
	}
	asJSON, asProtobuf := c.config(t, "node-1"), c.config(t, "node-2")
	asJSON.ContentType = "application/json"
	asProtobuf.ContentType = protobuf
	one, two := startInformer(t, ctx, asJSON), startInformer(t, ctx, asProtobuf)

	changeLeases(t, ctx, c)
	list, err := c.leases(t, 3, informed).List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, list.Items, before+writers*rounds)
	one.assertLevel(list)
	two.assertLevel(list)
	assert.Equal(t, map[string]int{"application/json": 1}, one.contentTypes())
	assert.Equal(t, map[string]int{protobuf + ";stream=watch": 1}, two.contentTypes())
}

// changeLeases makes a thousand changes through all nodes at once.
func changeLeases(t *testing.T, ctx context.Context, c *cluster) {
	t.Helper()
	var writing errgroup.Group
	for w := range writers {
		leases := c.leases(t, 1+w%3, informed)
		writing.Go(func() error {
			for i := range rounds {
				kept, err := leases.Create(ctx, newLease(fmt.Sprintf("new-%02d-%02d", w, i), "me"), metav1.CreateOptions{})
				if err != nil {
					return err
				}
				kept.Spec.HolderIdentity = new("you")
				if _, err := leases.Update(ctx, kept, metav1.UpdateOptions{}); err != nil {
					return err
				}
				brief, err := leases.Create(ctx, newLease(fmt.Sprintf("brief-%02d", w), "me"), metav1.CreateOptions{})
				if err != nil {
					return err
				}
				if err := leases.Delete(ctx, brief.Name, metav1.DeleteOptions{}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	require.NoError(t, writing.Wait())
}

// informer is client-go's shared informer of one namespace, with what it asked and what it told.
type informer struct {
	traffic
	t      *testing.T
	lister listers.LeaseNamespaceLister
	told   atomic.Int64
}

// startInformer returns when the informer has synced, and checks that it did so by a watch alone.
func startInformer(t *testing.T, ctx context.Context, config *rest.Config) *informer {
	t.Helper()
	i := &informer{t: t}
	factory := informers.NewSharedInformerFactoryWithOptions(clientset(t, i.over(config)), 0, informers.WithNamespace(informed))
	leases := factory.Coordination().V1().Leases()
	i.lister = leases.Lister().Leases(informed)
	_, err := leases.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { i.told.Add(1) },
		UpdateFunc: func(any, any) { i.told.Add(1) },
		DeleteFunc: func(any) { i.told.Add(1) },
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(ctx)
	factory.StartWithContext(ctx)
	t.Cleanup(func() {
		cancel()
		factory.Shutdown()
	})
	for resource, synced := range factory.WaitForCacheSync(ctx.Done()) {
		require.True(t, synced, resource)
	}
	require.Len(t, i.leases(), before)
	lists, watchLists := i.reads()
	require.Equal(t, []int{0, 1}, []int{lists, watchLists}, "the present objects come with the watch")
	return i
}

func (i *informer) leases() []*coordinationv1.Lease {
	found, err := i.lister.List(labels.Everything())
	require.NoError(i.t, err)
	return found
}

// assertLevel waits until the informer has what the list has, and then checks that nothing was told twice or never, and
// that it took no second look.
func (i *informer) assertLevel(list *coordinationv1.LeaseList) {
	i.t.Helper()
	changes := int64(before + 4*writers*rounds)
	if !assert.Eventually(i.t, func() bool { return i.told.Load() >= changes }, patience, 20*time.Millisecond) {
		i.t.Logf("told %d of %d", i.told.Load(), changes)
	}
	assert.Equal(i.t, changes, i.told.Load())
	assert.Len(i.t, i.leases(), len(list.Items))
	var differ []string
	for _, want := range list.Items {
		if have, err := i.lister.Get(want.Name); err != nil || !equality.Semantic.DeepEqual(&want, have) {
			differ = append(differ, fmt.Sprint(want.Name, " ", err))
		}
	}
	assert.Empty(i.t, strings.Join(differ, "\n"))
	lists, watchLists := i.reads()
	assert.Equal(i.t, []int{0, 1}, []int{lists, watchLists})
}
