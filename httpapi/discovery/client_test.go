package discovery

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/openapi3"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// serve serves the documents and notes what is asked.
func serve(t *testing.T) (client *discovery.DiscoveryClient, asked func() []string) {
	t.Helper()
	d := documents(t)
	var mu sync.Mutex
	var paths []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		paths = append(paths, r.URL.Path)
		mu.Unlock()
		document := d[strings.TrimSuffix(r.URL.Path, "/")]
		if document == nil {
			http.NotFound(w, r)
			return
		}
		answer, err := document.Answer(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotAcceptable)
			return
		}
		for name, values := range answer.Header {
			w.Header()[name] = values
		}
		w.Header().Set("Content-Type", answer.ContentType)
		w.WriteHeader(answer.Code)
		w.Write(answer.Body)
	}))
	t.Cleanup(server.Close)
	client, err := discovery.NewDiscoveryClientForConfig(&rest.Config{Host: server.URL})
	require.NoError(t, err)
	return client, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return paths
	}
}

func TestClientGoDiscoversInTwoRequests(t *testing.T) {
	client, asked := serve(t)
	groups, resources, err := client.ServerGroupsAndResources()
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"/api", "/apis"}, asked())
	checkDiscovered(t, groups, resources)
}

func TestClientGoDiscoversWithoutTheAggregatedForm(t *testing.T) {
	client, asked := serve(t)
	client.UseLegacyDiscovery = true
	groups, resources, err := client.ServerGroupsAndResources()
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"/api", "/apis", "/api/v1", "/apis/coordination.k8s.io/v1"}, asked())
	checkDiscovered(t, groups, resources)

	// The cache in memory takes a version without resources for an error.
	_, resources, err = memory.NewMemCacheClient(client).ServerGroupsAndResources()
	require.NoError(t, err)
	assert.Len(t, resources, 2)
}

func checkDiscovered(t *testing.T, groups []*metav1.APIGroup, resources []*metav1.APIResourceList) {
	t.Helper()
	require.Len(t, groups, 2)
	require.Len(t, resources, 2)
	// The client keeps versions in a map: their order is of no meaning.
	slices.SortFunc(groups, func(a, b *metav1.APIGroup) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(resources, func(a, b *metav1.APIResourceList) int { return strings.Compare(b.GroupVersion, a.GroupVersion) })
	assert.Equal(t, "", groups[0].Name)
	assert.Equal(t, "coordination.k8s.io/v1", groups[1].PreferredVersion.GroupVersion)
	lease := resources[1].APIResources[0]
	assert.Equal(t, "leases", lease.Name)
	assert.Equal(t, "Lease", lease.Kind)
	assert.True(t, lease.Namespaced)
	assert.Contains(t, lease.Verbs, "watch")
}

func TestClientGoMapsKinds(t *testing.T) {
	client, _ := serve(t)
	groups, err := restmapper.GetAPIGroupResources(client)
	require.NoError(t, err)
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	mapping, err := mapper.RESTMapping(schema.GroupKind{Group: "coordination.k8s.io", Kind: "Lease"})
	require.NoError(t, err)
	assert.Equal(t, "leases", mapping.Resource.Resource)
	_, err = mapper.RESTMapping(schema.GroupKind{Kind: "List"}, "v1")
	assert.NoError(t, err, "kubectl create -f of a List")
}

func TestClientGoReadsOpenAPIAndVersion(t *testing.T) {
	client, _ := serve(t)
	info, err := client.ServerVersion()
	require.NoError(t, err)
	assert.Equal(t, "v1.37.2", info.GitVersion)

	document, err := client.OpenAPISchema() // version 2, protobuf
	require.NoError(t, err)
	assert.Equal(t, "Leasehold", document.GetInfo().GetTitle())

	spec, err := openapi3.NewRoot(client.OpenAPIV3()).GVSpec(schema.GroupVersion{Group: "coordination.k8s.io", Version: "v1"})
	require.NoError(t, err)
	assert.Contains(t, spec.Components.Schemas, "io.k8s.api.coordination.v1.Lease")
}
