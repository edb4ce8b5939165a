package httpapi

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	protobufserializer "k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"

	"github.com/leasehold/leasehold/fsm"
)

const namespacesPath = "/api/v1/namespaces"

func TestNamespaceComesWithItsFirstObjectAndGoesWithItsLast(t *testing.T) {
	d := openDoor(t)
	first := d.store.change(t, fsm.OpCreate, "old", "a", nil)
	f := d.follow(t, namespacesPath+"?watch=true")
	for _, name := range []string{"default", "kube-node-lease", "kube-public", "kube-system", "old"} {
		assert.Equal(t, fmt.Sprintf("ADDED /%s %d", name, first), f.next().String())
	}
	d.store.change(t, fsm.OpCreate, "old", "b", nil)
	d.store.change(t, fsm.OpCreate, "kube-system", "a", nil)
	d.store.change(t, fsm.OpDelete, "kube-system", "a", nil)
	made := d.store.change(t, fsm.OpCreate, "new", "a", nil)
	d.store.change(t, fsm.OpUpdate, "new", "a", nil)
	event := f.next()
	assert.Equal(t, fmt.Sprintf("ADDED /new %d", made), event.String())
	assert.Equal(t, map[string]string{corev1.LabelMetadataName: "new"}, event.meta.Labels)
	assert.Contains(t, string(event.Object), `"status":{"phase":"Active"}`)
	d.store.change(t, fsm.OpDelete, "old", "a", nil)
	gone := d.store.change(t, fsm.OpDelete, "old", "b", nil)
	assert.Equal(t, fmt.Sprintf("DELETED /old %d", gone), f.next().String())
}

// The picture that events make, from whatever version on, is at each of them the one that a list at its version shows.
func TestWatchOfNamespacesAgreesWithTheirLists(t *testing.T) {
	d := openDoor(t)
	random := rand.New(rand.NewPCG(1, 2))
	there := map[string]bool{}
	churn := func(times int) (last uint64) {
		for range times {
			namespace, name := fmt.Sprintf("ns-%d", random.IntN(4)), fmt.Sprintf("l%d", random.IntN(2))
			op := fsm.OpCreate
			if there[namespace+name] {
				op = fsm.OpDelete
			}
			there[namespace+name] = !there[namespace+name]
			last = d.store.change(t, op, namespace, name, nil)
		}
		return last
	}
	s := newServer(t, d.store)
	begin := churn(50)
	churn(50)
	var followers []*follower
	for i := range uint64(10) {
		followers = append(followers, d.follow(t, fmt.Sprintf("%s?watch=true&resourceVersion=%d", namespacesPath, begin+i)))
	}
	churn(100)
	// One more, so that the last event is known.
	last := d.store.change(t, fsm.OpCreate, "the-last", "a", nil)

	names := func(revision uint64) []string {
		at, err := d.store.History().At(revision)
		require.NoError(t, err)
		return s.namespacesIn(at)
	}
	for i, f := range followers {
		revision := begin + uint64(i)
		picture := names(revision)
		for revision < last {
			event := f.next()
			var err error
			revision, err = strconv.ParseUint(event.meta.ResourceVersion, 10, 64)
			require.NoError(t, err)
			if event.Type == "ADDED" {
				require.NotContains(t, picture, event.meta.Name)
				picture = append(picture, event.meta.Name)
				slices.Sort(picture)
			} else {
				require.Contains(t, picture, event.meta.Name)
				picture = slices.DeleteFunc(picture, func(name string) bool { return name == event.meta.Name })
			}
			require.Equal(t, names(revision), picture, "%v", event)
		}
	}
}

func TestWatchOfNamespacesTakesTheOptionsOfAny(t *testing.T) {
	d := openDoor(t)
	f := d.follow(t, namespacesPath+"?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&fieldSelector=metadata.name%3Dns")
	mark := f.next()
	assert.Equal(t, "BOOKMARK / 1000", mark.String())
	assert.Equal(t, "true", mark.meta.Annotations["k8s.io/initial-events-end"])
	d.store.change(t, fsm.OpCreate, "other", "a", nil)
	made := d.store.change(t, fsm.OpCreate, "ns", "a", nil)
	for event := f.next(); ; event = f.next() {
		if event.Type != "BOOKMARK" {
			assert.Equal(t, fmt.Sprintf("ADDED /ns %d", made), event.String())
			break
		}
	}

	f = d.follow(t, "/api/v1/watch/namespaces/ns", "Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
	assert.Contains(t, string(f.next().Object), `"columnDefinitions":[{"name":"Name"`)
	d.store.change(t, fsm.OpDelete, "ns", "a", nil)
	event := f.next()
	assert.Equal(t, "DELETED", event.Type)
	assert.Contains(t, string(event.Object), `"columnDefinitions":null,"rows":[{"cells":["ns","Active",`)

	f = d.follow(t, namespacesPath+"?watch=true&resourceVersion=1")
	assert.Contains(t, string(f.next().Object), `"reason":"Expired"`)
	f.ends()
	f = d.follow(t, namespacesPath+"?watch=true&resourceVersion=0&timeoutSeconds=1")
	assert.Equal(t, "ADDED /default "+strconv.FormatUint(made+1, 10), f.next().String())
	for range 4 {
		f.next()
	}
	f.ends()
}

func TestClientsOfProtobufKnowNamespaces(t *testing.T) {
	d := openDoor(t)
	d.store.change(t, fsm.OpCreate, "ns", "a", nil)
	scheme := runtime.NewScheme()
	require.NoError(t, corev1.AddToScheme(scheme))
	got := d.do(t, "GET", namespacesPath, "", "Accept", asProtobuf)
	list, _, err := protobufserializer.NewSerializer(scheme, scheme).Decode([]byte(got.body), nil, nil)
	require.NoError(t, err)
	assert.Equal(t, "ns", list.(*corev1.NamespaceList).Items[4].Name)

	client, err := metadata.NewForConfig(d.clientConfig(asProtobuf))
	require.NoError(t, err)
	informers := metadatainformer.NewSharedInformerFactory(client, 0)
	informer := informers.ForResource(corev1.SchemeGroupVersion.WithResource("namespaces")).Informer()
	came, went := make(chan string, 100), make(chan string, 100)
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { came <- o.(metav1.Object).GetName() },
		DeleteFunc: func(o any) { went <- o.(metav1.Object).GetName() },
	})
	require.NoError(t, err)
	stop := make(chan struct{})
	informers.Start(stop)
	defer informers.Shutdown()
	defer close(stop)
	var known []string
	for range 5 {
		known = append(known, <-came)
	}
	assert.ElementsMatch(t, append([]string{"ns"}, foundingNamespaces...), known)
	d.store.change(t, fsm.OpCreate, "new", "a", nil)
	assert.Equal(t, "new", <-came)
	d.store.change(t, fsm.OpDelete, "ns", "a", nil)
	assert.Equal(t, "ns", <-went)
}

func BenchmarkNamespacesOfManyLeases(b *testing.B) {
	store := newOneNode(b)
	for i := range 100_000 {
		key := fsm.Key{Resource: "leases", Namespace: fmt.Sprintf("ns-%d", i%20), Name: fmt.Sprintf("node-%d", i)}
		_, err := store.Propose(b.Context(), fsm.Command{Op: fsm.OpCreate, Key: key, UID: "u", Object: []byte("x")})
		require.NoError(b, err)
	}
	s, state := newServer(b, store), store.State()
	b.ReportAllocs()
	for b.Loop() {
		require.Len(b, s.namespacesIn(state), 24)
	}
}
