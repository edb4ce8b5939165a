package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/websocket"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	labelselector "k8s.io/apimachinery/pkg/labels"

	"github.com/leasehold/leasehold/fsm"
	"github.com/leasehold/leasehold/httpapi/media"
)

// patience is how long a test waits for what must come; it never decides what comes.
const patience = 30 * time.Second

// seen is an event as a client sees it.
type seen struct {
	Type   string          `json:"type"`
	Object json.RawMessage `json:"object"`
	meta   metav1.PartialObjectMetadata
}

func (e *seen) String() string {
	return fmt.Sprintf("%s %s/%s %s", e.Type, e.meta.Namespace, e.meta.Name, e.meta.ResourceVersion)
}

// follower reads a watch.
type follower struct {
	t       testing.TB
	decoder *json.Decoder
	body    *http.Response
}

// follow opens a watch over HTTP.
func (d *door) follow(t testing.TB, path string, header ...string) *follower {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, "GET", d.server.URL+path, nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+adminToken)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := d.client.Do(r)
	require.NoError(t, err)
	t.Cleanup(func() { response.Body.Close() })
	require.Equal(t, 200, response.StatusCode)
	return &follower{t, json.NewDecoder(response.Body), response}
}

func (f *follower) next() *seen {
	f.t.Helper()
	event := new(seen)
	require.NoError(f.t, f.decoder.Decode(event))
	require.NoError(f.t, json.Unmarshal(event.Object, &event.meta))
	return event
}

// ends waits for the server to close the stream.
func (f *follower) ends() {
	f.t.Helper()
	var event seen
	require.ErrorContains(f.t, f.decoder.Decode(&event), "EOF", "%v", event)
}

// store makes a version of a Lease, or with OpDelete removes it, and returns the revision.
func (n *oneNode) change(t testing.TB, op fsm.Op, namespace, name string, labels map[string]string) uint64 {
	command := fsm.Command{Op: op, Key: fsm.Key{Resource: "leases", Namespace: namespace, Name: name}, UID: "uid"}
	if op != fsm.OpDelete {
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "uid", Labels: labels}}
		var err error
		command.Object, err = lease.Marshal()
		require.NoError(t, err)
	}
	result, err := n.Propose(context.Background(), command)
	require.NoError(t, err)
	require.Equal(t, fsm.Accepted, result.Outcome)
	return result.Revision
}

func TestWatchFromAVersionShowsWhatCameAfterIt(t *testing.T) {
	d := openDoor(t)
	first := d.store.change(t, fsm.OpCreate, "ns", "a", nil)
	f := d.follow(t, fmt.Sprintf("%s?watch=true&resourceVersion=%d", leasesPath, first))
	d.store.change(t, fsm.OpCreate, "other", "a", nil)
	d.store.change(t, fsm.OpUpdate, "ns", "a", nil)
	d.store.change(t, fsm.OpDelete, "ns", "a", nil)
	assert.Equal(t, fmt.Sprintf("MODIFIED ns/a %d", first+2), f.next().String())
	assert.Equal(t, fmt.Sprintf("DELETED ns/a %d", first+3), f.next().String())
}

func TestInitialEventsAreClosedByTheirBookmark(t *testing.T) {
	d := openDoor(t)
	d.store.change(t, fsm.OpCreate, "ns", "b", nil)
	last := d.store.change(t, fsm.OpCreate, "ns", "a", nil)
	f := d.follow(t, leasesPath+"?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true")
	assert.Equal(t, fmt.Sprintf("ADDED ns/a %d", last), f.next().String())
	assert.Equal(t, fmt.Sprintf("ADDED ns/b %d", last-1), f.next().String())
	mark := f.next()
	assert.Equal(t, fmt.Sprintf("BOOKMARK / %d", last), mark.String())
	assert.Equal(t, "true", mark.meta.Annotations["k8s.io/initial-events-end"])
	assert.Contains(t, string(mark.Object), `"spec":{}`)
	d.store.change(t, fsm.OpDelete, "ns", "a", nil)
	for event := f.next(); ; event = f.next() {
		if event.Type != media.EventBookmark {
			assert.Equal(t, fmt.Sprintf("DELETED ns/a %d", last+1), event.String())
			break
		}
	}
}

// TestTheEndOfTheLastFinalizerShowsTheObjectAsItWas has the write that frees an object change it too: watchers are told of
// the deletion with what was stored, so that a selector by the old labels still matches it.
func TestTheEndOfTheLastFinalizerShowsTheObjectAsItWas(t *testing.T) {
	d := openDoor(t)
	d.do(t, "POST", leasesPath, `{"metadata":{"name":"a","labels":{"k":"v"},"finalizers":["example.com/guard"]}}`)
	f := d.follow(t, leasesPath+"?watch=true&labelSelector=k%3Dv")
	require.Equal(t, "ADDED", f.next().Type)
	d.do(t, "DELETE", leasesPath+"/a", "")
	require.Equal(t, "MODIFIED", f.next().Type)
	got := d.do(t, "PATCH", leasesPath+"/a", `{"metadata":{"labels":{"k":"w"},"finalizers":null}}`, "Content-Type", "application/merge-patch+json")
	require.Equal(t, 200, got.StatusCode, "%s", got.body)
	event := f.next()
	assert.Equal(t, "DELETED", event.Type)
	assert.Equal(t, []string{"example.com/guard"}, event.meta.Finalizers)
	assert.Equal(t, map[string]string{"k": "v"}, event.meta.Labels)
}

func TestAWatchByItsOldPathIsValidatedAsAList(t *testing.T) {
	d := openDoor(t)
	d.store.change(t, fsm.OpCreate, "ns", "a", nil)
	d.store.change(t, fsm.OpCreate, "ns", "b", nil)
	old := strings.Replace(leasesPath, "/v1/", "/v1/watch/", 1)
	f := d.follow(t, old+"/a?allowWatchBookmarks=true&timeoutSeconds=5")
	assert.Contains(t, f.next().String(), "ADDED ns/a")
	mark := f.next()
	assert.Equal(t, "BOOKMARK", mark.Type)
	assert.NotContains(t, mark.meta.Annotations, "k8s.io/initial-events-end", "nobody asked for initial events")
	for query, code := range map[string]int{
		"?fieldSelector=metadata.name%3Db":                                   400,
		"?fieldSelector=metadata.namespace%3Dns":                             400,
		"?sendInitialEvents=true&resourceVersionMatch=NotOlderThan":          422,
		"?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&watch=1x": 200,
	} {
		got := d.do(t, "GET", old+"/a"+query+"&timeoutSeconds=1", "")
		assert.Equal(t, code, got.StatusCode, "%s: %s", query, got.body)
	}
}

func TestAWatchInAFormForListsEndsAtTheFirstEvent(t *testing.T) {
	d := openDoor(t)
	f := d.follow(t, leasesPath+"?watch=true", "Accept", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io")
	d.store.change(t, fsm.OpCreate, "ns", "a", nil)
	f.ends()
	f = d.follow(t, leasesPath+"?watch=true&resourceVersion=1", "Accept", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io")
	assert.Equal(t, "ERROR", f.next().Type)
}

// TestAFormIsLookedAtWhenThereIsSomethingToShow has a second fault in each request, which is told instead.
func TestAFormIsLookedAtWhenThereIsSomethingToShow(t *testing.T) {
	d := openDoor(t)
	const table = "application/json;as=Table;v=v1;g=meta.k8s.io"
	for _, c := range []struct {
		path, accept string
		code         int
	}{
		{leasesPath + "?watch=true&resourceVersion=abc", "application/yaml", 500},
		{leasesPath + "?watch=true&timeoutSeconds=1", "application/yaml,application/json", 406},
		{leasesPath + "?watch=true&timeoutSeconds=1", "application/json,application/yaml", 200},
		{leasesPath + "?watch=true&timeoutSeconds=1&includeObject=Bad", table, 400},
		{leasesPath + "/none?includeObject=Bad", table, 404},
		{leasesPath + "?includeObject=Bad", table, 400},
		{leasesPath + "?includeObject=Bad&limit=x", table, 400},
	} {
		got := d.do(t, "GET", c.path, "", "Accept", c.accept)
		assert.Equal(t, c.code, got.StatusCode, "%s %s: %s", c.path, c.accept, got.body)
	}
	got := d.do(t, "POST", leasesPath+"?includeObject=Bad", `{"metadata":{"name":"a"}}`, "Accept", table)
	assert.Equal(t, 400, got.StatusCode)
	assert.Equal(t, 404, d.do(t, "GET", leasesPath+"/a", "").StatusCode, "nothing is written by a request that is refused")
}

func TestWatchOfAForgottenVersionTellsSoAndEnds(t *testing.T) {
	d := openDoor(t)
	f := d.follow(t, leasesPath+"?watch=true&resourceVersion=1")
	event := f.next()
	assert.Equal(t, "ERROR", event.Type)
	assert.Contains(t, string(event.Object), `"reason":"Expired"`)
	assert.Contains(t, string(event.Object), `"code":410`)
	f.ends()
}

func TestWatchOfAVersionToComeWaitsForIt(t *testing.T) {
	d := openDoor(t)
	now := d.store.change(t, fsm.OpCreate, "ns", "a", nil)
	f := d.follow(t, fmt.Sprintf("%s?watch=true&resourceVersion=%d", leasesPath, now+2))
	for range 3 {
		d.store.change(t, fsm.OpUpdate, "ns", "a", nil)
	}
	assert.Equal(t, fmt.Sprintf("MODIFIED ns/a %d", now+3), f.next().String())
}

func TestWatchesEndWhenTheNodeDoesNotServeAnyMore(t *testing.T) {
	d := openDoor(t)
	f := d.follow(t, leasesPath+"?watch=true")
	close(d.store.serving)
	f.ends()
	got := d.do(t, "GET", leasesPath+"?watch=true", "")
	assert.Equal(t, 503, got.StatusCode)
	assert.Equal(t, "1", got.Header.Get("Retry-After"))
}

func TestWatchAsATableTellsItsColumnsOnce(t *testing.T) {
	d := openDoor(t)
	d.store.change(t, fsm.OpCreate, "ns", "a", nil)
	f := d.follow(t, leasesPath+"?watch=true", "Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
	d.store.change(t, fsm.OpDelete, "ns", "a", nil)
	assert.Contains(t, string(f.next().Object), `"columnDefinitions":[{"name":"Name"`)
	assert.Contains(t, string(f.next().Object), `"columnDefinitions":null`)
}

func TestWatchOverAWebsocket(t *testing.T) {
	d := openDoor(t)
	d.store.change(t, fsm.OpCreate, "ns", "a", nil)
	address := strings.Replace(d.server.URL, "https", "wss", 1) + leasesPath + "?watch=true"
	config, err := websocket.NewConfig(address, "http://localhost")
	require.NoError(t, err)
	config.TlsConfig = d.client.Transport.(*http.Transport).TLSClientConfig.Clone()
	config.TlsConfig.NextProtos = nil
	config.Header.Set("Authorization", "Bearer "+adminToken)
	connection, err := websocket.DialConfig(config)
	require.NoError(t, err)
	defer connection.Close()
	require.NoError(t, connection.SetDeadline(time.Now().Add(patience)))
	var event seen
	require.NoError(t, websocket.JSON.Receive(connection, &event))
	assert.Equal(t, "ADDED", event.Type)
	d.store.change(t, fsm.OpDelete, "ns", "a", nil)
	require.NoError(t, websocket.JSON.Receive(connection, &event))
	assert.Equal(t, "DELETED", event.Type)
	close(d.store.serving)
	assert.Error(t, websocket.JSON.Receive(connection, &event))

	config.Origin = nil
	_, err = websocket.DialConfig(config)
	assert.Error(t, err, "without an Origin")
}

// record is an output that keeps what is written.
type record struct {
	mu      sync.Mutex
	written bytes.Buffer
	aborted chan struct{}
	block   chan struct{} // a write waits for it, if it is there
}

func (r *record) write(_ media.Accepted, frames []byte) error {
	if r.block != nil {
		select {
		case <-r.block:
		case <-r.aborted:
			return http.ErrHandlerTimeout
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.written.Write(frames)
	return nil
}

func (r *record) single() bool { return false }
func (r *record) flush() error { return nil }
func (r *record) abort()       { close(r.aborted) }

// events returns what was written so far.
func (r *record) events(t testing.TB) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	events := []string{}
	for decoder := json.NewDecoder(bytes.NewReader(r.written.Bytes())); decoder.More(); {
		event := new(seen)
		require.NoError(t, decoder.Decode(event))
		require.NoError(t, json.Unmarshal(event.Object, &event.meta))
		events = append(events, event.String())
	}
	return events
}

func newServer(t testing.TB, store Store) *server {
	handler, err := New(Config{Authenticator: knownTokens()}, store)
	require.NoError(t, err)
	return handler.(*server)
}

// ofLeases is the kind that is watched.
var ofLeases = func() *kind {
	k, err := leases(false)
	if err != nil {
		panic(err)
	}
	return k
}()

// newWatch is a watch of Leases as the verb would make it.
func newWatch(s *server, selected selector, cursor uint64, timeout time.Duration) *watch {
	selected.kind = ofLeases
	w := &watch{
		server: s, selector: selected, cursor: cursor, timeout: timeout,
		watcher: watcher{interest: selected.interest(), wake: make(chan struct{}, 1)},
	}
	w.scene = objects{w}
	return w
}

func TestBookmarksComeAfterASecondEachMinuteAndBeforeTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newOneNode(t)
		s := newServer(t, store)
		revision := store.change(t, fsm.OpCreate, "ns", "a", nil)
		w := newWatch(s, selector{namespace: "other"}, revision, 150*time.Second)
		w.bookmarks = true
		out := &record{}
		begin := time.Now()
		done := make(chan struct{})
		go func() {
			defer close(done)
			w.run(t.Context(), out, start{})
		}()
		var at []int
		for second := range 150 {
			synctest.Wait()
			if len(out.events(t)) > len(at) {
				at = append(at, second)
			}
			// Changes of no interest move the bookmarks along.
			revision = store.change(t, fsm.OpUpdate, "ns", "a", nil)
			time.Sleep(time.Second)
		}
		<-done
		assert.Equal(t, []int{1, 61, 121, 148}, at)
		assert.Equal(t, 150*time.Second, time.Since(begin))
		events := out.events(t)
		assert.Equal(t, fmt.Sprintf("BOOKMARK / %d", revision-2), events[len(events)-1])
		synctest.Wait()
	})
}

func TestTheTimeoutLeftToTheServerIsHalfAnHourToAnHour(t *testing.T) {
	zero := int64(0)
	for _, none := range []*int64{nil, &zero} {
		for range 100 {
			got := watchTimeout(none)
			assert.GreaterOrEqual(t, got, 30*time.Minute)
			assert.Less(t, got, time.Hour)
		}
	}
	three := int64(3)
	assert.Equal(t, 3*time.Second, watchTimeout(&three))
}

func TestAClientThatTakesNothingIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newOneNode(t)
		s := newServer(t, store)
		first := store.change(t, fsm.OpCreate, "ns", "a", nil)
		out := &record{aborted: make(chan struct{}), block: make(chan struct{})}
		begin := time.Now()
		newWatch(s, selector{}, first-1, time.Hour).run(t.Context(), out, start{})
		assert.GreaterOrEqual(t, time.Since(begin), stallTimeout)
		assert.LessOrEqual(t, time.Since(begin), stallTimeout+2*stallCheck)
		synctest.Wait()
	})
}

// The server's own way of cutting off must work on what a watch really writes to: a stream of an HTTP/2 connection whose
// client takes nothing of it, and a connection of HTTP/1.
func TestAStalledStreamCanBeAborted(t *testing.T) {
	for _, h2 := range []bool{true, false} {
		t.Run(fmt.Sprintf("http2 %v", h2), func(t *testing.T) {
			store := newOneNode(t)
			s := newServer(t, store)
			ended := make(chan struct{})
			w := newWatch(s, selector{}, store.State().Revision(), time.Hour)
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
				defer close(ended)
				out.WriteHeader(200)
				w.run(r.Context(), stream{out, http.NewResponseController(out)}, start{})
			}))
			server.EnableHTTP2 = h2
			server.StartTLS()
			defer server.Close()
			response, err := server.Client().Get(server.URL)
			require.NoError(t, err)
			defer response.Body.Close()
			require.Equal(t, h2, response.ProtoMajor == 2)

			// More than the client and the connection between them hold of what nobody reads.
			large := map[string]string{"k": strings.Repeat("x", 1<<20)}
			store.change(t, fsm.OpCreate, "ns", "a", large)
			for range 32 {
				store.change(t, fsm.OpUpdate, "ns", "a", large)
			}
			require.Eventually(t, func() bool {
				since := w.writing.Load()
				return since != 0 && time.Since(time.Unix(0, since)) > 100*time.Millisecond
			}, patience, time.Millisecond, "the write does not stall")
			w.writing.Store(1)
			s.interests.abortStalled()
			select {
			case <-ended:
			case <-time.After(patience):
				t.Fatal("the write goes on")
			}
		})
	}
}

func TestTheFollowerEndsWithTheLastWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newOneNode(t)
		i := newInterests(store)
		a := &watcher{wake: make(chan struct{}, 1), interest: interest{resource: "leases"}}
		b := &watcher{wake: make(chan struct{}, 1), interest: interest{"leases", "ns", "b"}}
		for range 3 {
			i.join(a)
			i.join(b)
			store.change(t, fsm.OpCreate, "ns", "a", nil)
			synctest.Wait()
			assert.NotZero(t, a.next.Swap(0))
			assert.Zero(t, b.next.Load(), "no event was of interest to it")
			<-a.wake
			i.leave(a)
			store.change(t, fsm.OpDelete, "ns", "a", nil)
			synctest.Wait()
			assert.Zero(t, a.next.Load(), "it has left")
			i.leave(b)
		}
		// The bubble does not end while a goroutine is left in it.
	})
}

// A watch must show exactly what a naive filter over the changes would, whatever it selects, wherever it begins and
// however its wakings fall between the changes.
func TestWatchesMissNothingAndRepeatNothing(t *testing.T) {
	for range 5 {
		synctest.Test(t, watchesMissNothing)
	}
}

func watchesMissNothing(t *testing.T) {
	const changes, watches = 600, 24
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	store := newOneNode(t)
	s := newServer(t, store)
	begin := store.State().Revision()

	type version struct{ namespace, name, label string }
	type made struct {
		revision uint64
		now, was *version
	}
	var history []made
	present := map[string]*version{}
	change := func() {
		namespace, name := fmt.Sprintf("ns%d", random.IntN(3)), fmt.Sprintf("l%d", random.IntN(3))
		was := present[namespace+"/"+name]
		op, now := fsm.OpCreate, &version{namespace, name, fmt.Sprint(random.IntN(2))}
		if was != nil {
			if op = fsm.OpUpdate; random.IntN(3) == 0 {
				op, now = fsm.OpDelete, nil
			}
		}
		var labels map[string]string
		if now != nil {
			labels = map[string]string{"k": now.label}
		}
		revision := store.change(t, op, namespace, name, labels)
		history = append(history, made{revision, now, was})
		if present[namespace+"/"+name] = now; now == nil {
			delete(present, namespace+"/"+name)
		}
	}
	for range changes / 3 {
		change()
	}

	type watching struct {
		*watch
		from uint64
		out  *record
	}
	var all []watching
	var running sync.WaitGroup
	for n := range watches {
		selected := selector{}
		if n%4 > 0 {
			selected.namespace = fmt.Sprintf("ns%d", random.IntN(3))
		}
		if n%4 > 1 {
			selected.name = fmt.Sprintf("l%d", random.IntN(3))
		}
		if n%3 == 0 {
			selected.labels = labelselector.SelectorFromSet(labelselector.Set{"k": "1"})
		}
		from := begin + random.Uint64N(changes/3)
		w := watching{newWatch(s, selected, from, time.Hour), from, &record{}}
		all = append(all, w)
		running.Go(func() { w.run(t.Context(), w.out, start{}) })
	}
	for range 2 * changes / 3 {
		change()
		if random.IntN(3) == 0 { // let them all come to rest, so that the next change finds them waiting
			time.Sleep(time.Second)
		}
	}
	time.Sleep(time.Minute)
	synctest.Wait()
	close(store.serving)
	running.Wait()

	expected := func(w watching) []string {
		events := []string{}
		selects := func(v *version) bool {
			return v != nil && (w.selector.namespace == "" || w.selector.namespace == v.namespace) &&
				(w.selector.name == "" || w.selector.name == v.name) && (w.selector.labels == nil || v.label == "1")
		}
		for _, m := range history {
			kind, key := "", m.now
			switch {
			case m.revision <= w.from:
			case selects(m.now) && selects(m.was):
				kind = "MODIFIED"
			case selects(m.now):
				kind = "ADDED"
			case selects(m.was):
				kind, key = "DELETED", m.was
			}
			if kind != "" {
				events = append(events, fmt.Sprintf("%s %s/%s %d", kind, key.namespace, key.name, m.revision))
			}
		}
		return events
	}
	for n, w := range all {
		assert.Equal(t, expected(w), w.out.events(t), "watch %d of %+v", n, w.selector)
	}
}
