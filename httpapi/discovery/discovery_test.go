package discovery

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/version"

	"github.com/leasehold/leasehold/httpapi/media"
)

const (
	aggregatedJSON  = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	aggregatedProto = "application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
)

func documents(t testing.TB) Documents {
	t.Helper()
	d, err := New("v9.9.9", Leases(), Namespaces())
	require.NoError(t, err)
	return d
}

// ask answers a request of a path, with headers in pairs.
func ask(t testing.TB, d Documents, path string, headers ...string) (Answer, error) {
	t.Helper()
	r := httptest.NewRequest("GET", path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	document := d[r.URL.Path]
	require.NotNil(t, document, path)
	return document.Answer(r)
}

func read(t *testing.T, d Documents, path string, headers ...string) Answer {
	t.Helper()
	answer, err := ask(t, d, path, headers...)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, answer.Code)
	return answer
}

func TestDocumentsAsKubeAPIServerWritesThem(t *testing.T) {
	d := documents(t)
	for path, want := range map[string]string{
		"/api": `{"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":[]}`,
		"/api/v1": `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"namespaces","singularName":"namespace","namespaced":false,` +
			`"kind":"Namespace","verbs":["get","list","watch"],"shortNames":["ns"],"storageVersionHash":"Q3oi5N2YM8M="}]}`,
		"/apis": `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"coordination.k8s.io","versions":[{"groupVersion":"coordination.k8s.io/v1",` +
			`"version":"v1"}],"preferredVersion":{"groupVersion":"coordination.k8s.io/v1","version":"v1"}}]}`,
		"/apis/coordination.k8s.io": `{"kind":"APIGroup","apiVersion":"v1","name":"coordination.k8s.io","versions":[{"groupVersion":` +
			`"coordination.k8s.io/v1","version":"v1"}],"preferredVersion":{"groupVersion":"coordination.k8s.io/v1","version":"v1"}}`,
		"/apis/coordination.k8s.io/v1": `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"coordination.k8s.io/v1","resources":[` +
			`{"name":"leases","singularName":"lease","namespaced":true,"kind":"Lease","verbs":["create","delete","deletecollection",` +
			`"get","list","patch","update","watch"],"storageVersionHash":"gqkMMb/YqFM="}]}`,
	} {
		for _, accept := range []string{"", "*/*", "application/json", "application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList,application/json"} {
			answer := read(t, d, path, "Accept", accept)
			assert.Equal(t, "application/json", answer.ContentType)
			assert.Equal(t, want+"\n", string(answer.Body), "%s as %q", path, accept)
		}
		_, err := ask(t, d, path, "Accept", "application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList")
		var refused *media.NotAcceptableError
		assert.ErrorAs(t, err, &refused, path)
		_, err = ask(t, d, path, "Accept", "text/html")
		assert.ErrorAs(t, err, &refused, path)
	}
}

func TestAggregatedDocuments(t *testing.T) {
	d := documents(t)
	const version = `"versions":[{"version":"v1","resources":[{"resource":"leases","responseKind":{"group":"","version":"","kind":"Lease"},` +
		`"scope":"Namespaced","singularResource":"lease","verbs":["create","delete","deletecollection","get","list","patch","update","watch"]}],` +
		`"freshness":"Current"}]`
	for path, want := range map[string]string{
		"/apis": `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[{"metadata":{"name":"coordination.k8s.io"},` + version + `}]}`,
		"/api": `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[{"metadata":{},"versions":[{"version":"v1","resources":[{"resource":"namespaces",` +
			`"responseKind":{"group":"","version":"","kind":"Namespace"},"scope":"Cluster","singularResource":"namespace","verbs":["get","list","watch"],"shortNames":["ns"]}],"freshness":"Current"}]}]}`,
	} {
		answer := read(t, d, path, "Accept", aggregatedJSON+",application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json")
		assert.Equal(t, aggregatedJSON, answer.ContentType)
		assert.Equal(t, want+"\n", string(answer.Body))
		assert.Equal(t, "public", answer.Header.Get("Cache-Control"))
		assert.Equal(t, "Accept", answer.Header.Get("Vary"))
		etag := answer.Header.Get("Etag")
		assert.Regexp(t, `^"[0-9A-F]{128}"$`, etag)

		for _, known := range []string{etag, "W/" + etag, `"x", ` + etag, "*"} {
			answer, err := ask(t, d, path, "Accept", aggregatedJSON, "If-None-Match", known)
			require.NoError(t, err)
			assert.Equal(t, http.StatusNotModified, answer.Code, known)
			assert.Empty(t, answer.Body)
			assert.NotNil(t, answer.Body)
			assert.Equal(t, etag, answer.Header.Get("Etag"))
		}
		read(t, d, path, "Accept", aggregatedJSON, "If-None-Match", `"x"`)
		read(t, d, path, "Accept", "application/json", "If-None-Match", etag)

		answer = read(t, d, path, "Accept", aggregatedProto)
		assert.Equal(t, aggregatedProto, answer.ContentType)
		unknown := unwrap(t, answer.Body)
		assert.Equal(t, runtime.TypeMeta{APIVersion: "apidiscovery.k8s.io/v2", Kind: "APIGroupDiscoveryList"}, unknown.TypeMeta)
		var list apidiscoveryv2.APIGroupDiscoveryList
		require.NoError(t, list.Unmarshal(unknown.Raw))
		require.Len(t, list.Items, 1)
		assert.Len(t, list.Items[0].Versions, 1)
	}
}

func TestProtobufAndYAML(t *testing.T) {
	d := documents(t)
	answer := read(t, d, "/apis/coordination.k8s.io/v1", "Accept", "application/vnd.kubernetes.protobuf, application/json")
	assert.Equal(t, "application/vnd.kubernetes.protobuf", answer.ContentType)
	unknown := unwrap(t, answer.Body)
	assert.Equal(t, runtime.TypeMeta{APIVersion: "v1", Kind: "APIResourceList"}, unknown.TypeMeta)
	var list metav1.APIResourceList
	require.NoError(t, list.Unmarshal(unknown.Raw))
	assert.Equal(t, "coordination.k8s.io/v1", list.GroupVersion)
	assert.Equal(t, "leases", list.APIResources[0].Name)

	answer = read(t, d, "/apis", "Accept", "application/yaml")
	assert.Equal(t, "application/yaml", answer.ContentType)
	assert.Contains(t, string(answer.Body), "kind: APIGroupList\n")
}

func TestPeopleGetIndentedJSON(t *testing.T) {
	d := documents(t)
	assert.Contains(t, string(read(t, d, "/apis?pretty=true").Body), "{\n  \"kind\": \"APIGroupList\"")
	assert.Contains(t, string(read(t, d, "/apis", "User-Agent", "curl/8").Body), "{\n  \"kind\": \"APIGroupList\"")
	assert.NotContains(t, string(read(t, d, "/apis", "User-Agent", "curl/8", "Accept", aggregatedJSON).Body), "  ")
}

func TestVersionIsThatOfKubernetesWithOurOwnBesideIt(t *testing.T) {
	answer := read(t, documents(t), "/version")
	var info version.Info
	require.NoError(t, json.Unmarshal(answer.Body, &info))
	assert.Equal(t, "v1.37.2", info.GitVersion)
	assert.Equal(t, "1", info.Major)
	assert.Equal(t, "37", info.Minor)
	assert.NotEmpty(t, info.Platform)
	assert.Contains(t, string(answer.Body), `"leaseholdVersion": "v9.9.9"`)
}

func TestMethodsAsInKubeAPIServer(t *testing.T) {
	d := documents(t)
	for path, any := range map[string]bool{"/apis": true, "/apis/coordination.k8s.io": true, "/apis/coordination.k8s.io/v1": false, "/api": false, "/version": false} {
		assert.Equal(t, any, d[path].AnyMethod, path)
	}
}

// Clients go from node to node and ask by ETag; nodes that differ would make them fetch everything again.
func TestEveryRunMakesTheSameDocuments(t *testing.T) {
	first := documents(t)
	for range 5 {
		again := documents(t)
		require.Len(t, again, len(first))
		for path, document := range first {
			require.Equal(t, document.forms, again[path].forms, path)
		}
	}
}

func TestMoreResourcesShareGroupsAndVersions(t *testing.T) {
	other := Resource{Group: "coordination.k8s.io", Version: "v1", Kind: "Other", Plural: "others", Singular: "other", ShortNames: []string{"ot"}, Verbs: []string{"get"}}
	later := other
	later.Version = "v1beta1"
	core, groups := groupsOf([]Resource{Leases(), other, later, Namespaces()})
	assert.Equal(t, []string{"v1"}, apiVersions(core).Versions)
	assert.Len(t, aggregated([]group{core}).Items, 1)
	require.Len(t, groups, 1)
	require.Len(t, groups[0].versions, 2)
	list := apiResourceList(&groups[0].versions[0])
	assert.Len(t, list.APIResources, 2)
	assert.Equal(t, "v1", apiGroup(&groups[0]).PreferredVersion.Version)
	assert.Equal(t, apidiscoveryv2.ScopeCluster, aggregated(groups).Items[0].Versions[1].Resources[0].Scope)
}

func unwrap(t *testing.T, body []byte) runtime.Unknown {
	t.Helper()
	raw, ok := strings.CutPrefix(string(body), "k8s\x00")
	require.True(t, ok)
	var unknown runtime.Unknown
	require.NoError(t, unknown.Unmarshal([]byte(raw)))
	return unknown
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		documents(b)
	}
}
