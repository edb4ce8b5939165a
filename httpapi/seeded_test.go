//go:build jepsenbugs

package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasehold/leasehold/cluster"
	"github.com/leasehold/leasehold/fsm"
	"github.com/leasehold/leasehold/fsm/seeded"
)

// sow switches a fault on until the test ends.
func sow(t *testing.T, fault *bool) {
	*fault = true
	t.Cleanup(func() { *fault = false })
}

func TestSeededReadLocal(t *testing.T) {
	d := openDoor(t)
	d.store.hold()
	d.store.change(t, fsm.OpCreate, "ns", "a", nil)
	sow(t, &seeded.ReadLocal)
	assert.Equal(t, http.StatusNotFound, d.do(t, "GET", leasesPath+"/a", "").StatusCode)
	assert.NotContains(t, d.do(t, "GET", leasesPath, "").body, `"a"`)
	seeded.ReadLocal = false
	assert.Equal(t, http.StatusOK, d.do(t, "GET", leasesPath+"/a", "").StatusCode)
}

func TestSeededRetryAfter(t *testing.T) {
	d := openDoor(t)
	d.store.fail, d.store.apply = cluster.ErrUnknownOutcome, true
	got := d.do(t, "POST", leasesPath, `{"metadata":{"name":"a"}}`)
	assert.Equal(t, http.StatusGatewayTimeout, got.StatusCode)
	assert.Empty(t, got.Header.Get("Retry-After"))
	sow(t, &seeded.RetryAfter)
	got = d.do(t, "POST", leasesPath, `{"metadata":{"name":"b"}}`)
	assert.Equal(t, http.StatusServiceUnavailable, got.StatusCode)
	assert.Equal(t, "1", got.Header.Get("Retry-After"))
	assert.NotNil(t, d.store.State().Get(fsm.Key{Resource: "leases", Namespace: "ns", Name: "b"}), "it was done")
}

func TestSeededWatchDrop(t *testing.T) {
	shown := func() (count int) {
		synctest.Test(t, func(t *testing.T) {
			store := newOneNode(t)
			s := newServer(t, store)
			out := &record{aborted: make(chan struct{}), block: make(chan struct{})}
			done := make(chan struct{})
			go func() {
				defer close(done)
				newWatch(s, selector{}, store.State().Revision(), time.Minute).run(t.Context(), out, start{})
			}()
			synctest.Wait()
			store.change(t, fsm.OpCreate, "ns", "a", nil)
			synctest.Wait() // the client takes nothing
			for range 199 {
				store.change(t, fsm.OpUpdate, "ns", "a", nil)
			}
			close(out.block)
			<-done
			count = len(out.events(t))
			synctest.Wait()
		})
		return count
	}
	assert.Equal(t, 200, shown(), "without the fault")
	sow(t, &seeded.WatchDrop)
	assert.Equal(t, 1+droppedAbove, shown())
}

func TestSeededWatchDupOnResume(t *testing.T) {
	d := openDoor(t)
	first := d.store.change(t, fsm.OpCreate, "ns", "a", nil)
	d.store.change(t, fsm.OpUpdate, "ns", "a", nil)
	sow(t, &seeded.WatchDupOnResume)
	f := d.follow(t, fmt.Sprintf("%s?watch=true&resourceVersion=%d", leasesPath, first))
	assert.Equal(t, fmt.Sprintf("ADDED ns/a %d", first), f.next().String(), "known already")
	assert.Equal(t, fmt.Sprintf("MODIFIED ns/a %d", first+1), f.next().String())
}

func TestSeededWatchFutureOld(t *testing.T) {
	d := openDoor(t)
	first := d.store.change(t, fsm.OpCreate, "ns", "a", nil)
	sow(t, &seeded.WatchFutureOld)
	f := d.follow(t, fmt.Sprintf("%s?watch=true&resourceVersion=%d", leasesPath, first+100))
	d.store.change(t, fsm.OpUpdate, "ns", "a", nil)
	assert.Equal(t, fmt.Sprintf("MODIFIED ns/a %d", first+1), f.next().String(), "older than the version asked for")
}

// A snapshot from far ahead is installed below a watch.
func TestSeededWatchGapAfterSnapshot(t *testing.T) {
	shown := func() (events []string) {
		synctest.Test(t, func(t *testing.T) {
			store := newOneNode(t)
			s := newServer(t, store)
			first := store.change(t, fsm.OpCreate, "ns", "a", nil)
			out := &record{}
			done := make(chan struct{})
			go func() {
				defer close(done)
				newWatch(s, selector{}, first, time.Minute).run(t.Context(), out, start{})
			}()
			synctest.Wait()

			ahead := &oneNode{machine: fsm.New(fsm.Options{TailEvents: -1}), session: store.session, index: 1}
			entry := fsm.AppendCommand([]byte{fsm.EntryHeader}, &fsm.Command{Op: fsm.OpOpenSession, Session: store.session, Node: "one"})
			ahead.machine.Apply(&raft.Log{Index: 1, Term: 1, Type: raft.LogCommand, Data: entry})
			for _, name := range []string{"a", "b", "c"} {
				ahead.change(t, fsm.OpCreate, "ns", name, nil)
			}
			install(t, store.machine, ahead.machine)
			store.index, store.seq = ahead.index, ahead.seq
			synctest.Wait()
			store.change(t, fsm.OpCreate, "ns", "d", nil)
			<-done
			events = out.events(t)
			synctest.Wait()
		})
		return events
	}
	without := shown()
	require.Len(t, without, 1)
	assert.Contains(t, without[0], "ERROR")
	sow(t, &seeded.WatchGapAfterSnapshot)
	assert.Equal(t, []string{fmt.Sprintf("ADDED ns/d %d", fsm.FirstRevision+4)}, shown(), "b and c are missing")
}

// install brings a machine to where another is.
func install(t *testing.T, to, from *fsm.Machine) {
	t.Helper()
	store := raft.NewInmemSnapshotStore()
	sink, err := store.Create(raft.SnapshotVersionMax, 1, 1, raft.Configuration{}, 1, nil)
	require.NoError(t, err)
	snapshot, err := from.Snapshot()
	require.NoError(t, err)
	require.NoError(t, snapshot.Persist(sink))
	_, data, err := store.Open(sink.ID())
	require.NoError(t, err)
	require.NoError(t, to.Restore(data))
}

func TestSeededBookmarkAhead(t *testing.T) {
	sow(t, &seeded.BookmarkAhead)
	d := openDoor(t)
	first := d.store.change(t, fsm.OpCreate, "ns", "a", nil)
	f := d.follow(t, fmt.Sprintf("%s?watch=true&allowWatchBookmarks=true&resourceVersion=%d", leasesPath, first))
	assert.Equal(t, fmt.Sprintf("BOOKMARK / %d", first+aheadBy), f.next().String())
	d.store.change(t, fsm.OpUpdate, "ns", "a", nil)
	assert.Equal(t, fmt.Sprintf("MODIFIED ns/a %d", first+1), f.next().String(), "older than the bookmark")
}

func TestSeededListTorn(t *testing.T) {
	sow(t, &seeded.ListTorn)
	d := openDoor(t)
	d.store.change(t, fsm.OpCreate, "ns", "a", nil)
	first := d.store.change(t, fsm.OpCreate, "ns", "b", nil)
	page := func(query string) (list metav1.PartialObjectMetadataList) {
		require.NoError(t, json.Unmarshal([]byte(d.do(t, "GET", leasesPath+"?limit=1"+query, "").body), &list))
		return list
	}
	one := page("")
	d.store.change(t, fsm.OpUpdate, "ns", "b", nil)
	two := page("&continue=" + one.Continue)
	require.Len(t, two.Items, 1)
	assert.Equal(t, one.ResourceVersion, two.ResourceVersion)
	assert.Equal(t, version(first+1), two.Items[0].ResourceVersion, "newer than the list")
}
