package e2e

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	retrywatch "k8s.io/client-go/tools/watch"
)

// elections is the namespace in which candidates compete.
const elections = "elections"

// lock is every version that a Lease has had, such as that of an election.
type lock struct {
	t    *testing.T
	mu   sync.Mutex // guards seen
	seen []watch.Event
	news chan struct{} // gets a value after something was seen
}

// watchLock follows a lock.
func (c *cluster) watchLock(t *testing.T, k int, name string) *lock {
	t.Helper()
	return c.watchLease(t, k, elections, name)
}

// watchLease follows a Lease from before it is there, at node k, and resumes where a watch ends.
func (c *cluster) watchLease(t *testing.T, k int, namespace, name string) *lock {
	t.Helper()
	leases := c.leases(t, k, namespace)
	none, err := leases.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	one := fields.OneTermEqualSelector("metadata.name", name).String()
	watcher, err := retrywatch.NewRetryWatcherWithContext(t.Context(), none.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.FieldSelector = one
			return leases.Watch(ctx, options)
		},
	})
	require.NoError(t, err)
	l := &lock{t: t, news: make(chan struct{}, 1)}
	var reading sync.WaitGroup
	reading.Go(func() {
		for event := range watcher.ResultChan() {
			l.mu.Lock()
			l.seen = append(l.seen, event)
			l.mu.Unlock()
			select {
			case l.news <- struct{}{}:
			default:
			}
		}
	})
	t.Cleanup(func() {
		watcher.Stop()
		reading.Wait()
	})
	return l
}

// versions returns what the lock was, oldest first. A lock is never deleted, and no watch of it may end in an error.
func (l *lock) versions() []coordinationv1.Lease {
	l.t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	var versions []coordinationv1.Lease
	for _, event := range l.seen {
		require.Contains(l.t, []watch.EventType{watch.Added, watch.Modified, watch.Bookmark}, event.Type, "%v", event.Object)
		if event.Type != watch.Bookmark {
			versions = append(versions, *event.Object.(*coordinationv1.Lease))
		}
	}
	return versions
}

// holders returns who held the lock, one after the other.
func (l *lock) holders() []string {
	l.t.Helper()
	var holders []string
	for _, version := range l.versions() {
		holders = append(holders, *version.Spec.HolderIdentity)
	}
	return slices.Compact(holders)
}

// awaitHolders waits until the lock has had that many holders, and returns them.
func (l *lock) awaitHolders(count int) []string {
	l.t.Helper()
	l.await(func() bool { return len(l.holders()) >= count })
	return l.holders()
}

// awaitRenewals waits until the lock has been written so often from now on.
func (l *lock) awaitRenewals(count int) {
	l.t.Helper()
	present := len(l.versions())
	l.await(func() bool { return len(l.versions()) >= present+count })
}

func (l *lock) await(done func() bool) {
	l.t.Helper()
	deadline := time.After(patience)
	for !done() {
		select {
		case <-l.news:
		case <-deadline:
			require.FailNow(l.t, "the lock was not written as it should be", "holders so far: %v", l.holders())
		}
	}
}

// assertOneHolderAtATime goes through all that the lock has been.
func (l *lock) assertOneHolderAtATime() {
	l.t.Helper()
	versions := l.versions()
	require.NotEmpty(l.t, versions)
	assert.Zero(l.t, *versions[0].Spec.LeaseTransitions)
	for i, next := range versions[1:] {
		assert.NoError(l.t, succeeds(versions[i].Spec, next.Spec), "version %s", next.ResourceVersion)
	}
}
