package discovery

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/httpapi/media"
)

const leasesV3 = "/openapi/v3/apis/coordination.k8s.io/v1"

func TestOpenAPIVersion2(t *testing.T) {
	d := documents(t)
	answer := read(t, d, "/openapi/v2", "Accept", "application/json")
	assert.Equal(t, "application/json", answer.ContentType)
	var spec struct {
		Swagger string
		Paths   map[string]struct {
			Get struct {
				OperationID string
				Produces    []string
				Kind        map[string]string `json:"x-kubernetes-group-version-kind"`
			}
			Patch struct{ Consumes []string }
		}
		Definitions map[string]struct {
			Type       string
			Kinds      []map[string]string `json:"x-kubernetes-group-version-kind"`
			Properties map[string]map[string]any
		}
	}
	require.NoError(t, json.Unmarshal(answer.Body, &spec))
	assert.Equal(t, "2.0", spec.Swagger)
	kind := map[string]string{"group": "coordination.k8s.io", "version": "v1", "kind": "Lease"}
	one := spec.Paths["/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{name}"]
	assert.Equal(t, "readCoordinationV1NamespacedLease", one.Get.OperationID)
	assert.Equal(t, kind, one.Get.Kind)
	assert.Equal(t, []string{"application/json", "application/yaml", "application/vnd.kubernetes.protobuf"}, one.Get.Produces)
	assert.Contains(t, one.Patch.Consumes, "application/apply-patch+yaml")
	assert.Equal(t, "listCoordinationV1LeaseForAllNamespaces", spec.Paths["/apis/coordination.k8s.io/v1/leases"].Get.OperationID)

	lease := spec.Definitions["io.k8s.api.coordination.v1.Lease"]
	assert.Equal(t, "object", lease.Type)
	assert.Equal(t, []map[string]string{kind}, lease.Kinds)
	properties := spec.Definitions["io.k8s.api.coordination.v1.LeaseSpec"].Properties
	assert.Equal(t, "int32", properties["leaseDurationSeconds"]["format"])
	assert.NotEmpty(t, properties["holderIdentity"]["description"])
	meta := spec.Definitions["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"].Properties
	assert.Equal(t, "uid", meta["ownerReferences"]["x-kubernetes-patch-merge-key"])
	assert.Equal(t, "merge", meta["finalizers"]["x-kubernetes-patch-strategy"])
	assert.NotContains(t, string(answer.Body), `"default":`, "version 2 has no defaults")

	for _, accept := range []string{"application/com.github.proto-openapi.spec.v2@v1.0+protobuf", "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"} {
		binary := read(t, d, "/openapi/v2", "Accept", accept)
		assert.Equal(t, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf", binary.ContentType)
		assert.Equal(t, answer.Header, binary.Header)
		assert.NotEqual(t, answer.Body, binary.Body)
	}
	_, err := ask(t, d, "/openapi/v2", "Accept", "text/html")
	var refused *media.NotAcceptableError
	assert.ErrorAs(t, err, &refused)
}

func TestOpenAPIVersion3IsFoundByItsIndex(t *testing.T) {
	d := documents(t)
	var index index
	require.NoError(t, json.Unmarshal(read(t, d, "/openapi/v3").Body, &index))
	for _, path := range []string{"api", "api/v1", "apis", "apis/coordination.k8s.io", "apis/coordination.k8s.io/v1", "version"} {
		require.Contains(t, index.Paths, path)
	}
	for path, entry := range index.Paths {
		answer := read(t, d, entry.ServerRelativeURL)
		assert.Equal(t, "application/json", answer.ContentType)
		assert.Equal(t, "public, immutable", answer.Header.Get("Cache-Control"), path)
		assert.NotEmpty(t, answer.Header.Get("Expires"))
		assert.Contains(t, string(answer.Body), `"openapi":"3.0.0"`)
		assert.Equal(t, `"`+entry.ServerRelativeURL[strings.Index(entry.ServerRelativeURL, "=")+1:]+`"`, answer.Header.Get("Etag"))
	}

	current := index.Paths["apis/coordination.k8s.io/v1"].ServerRelativeURL
	answer, err := ask(t, d, leasesV3+"?hash=ABC")
	require.NoError(t, err)
	assert.Equal(t, http.StatusMovedPermanently, answer.Code)
	assert.Equal(t, current, answer.Header.Get("Location"))

	answer = read(t, d, leasesV3)
	assert.Empty(t, answer.Header.Get("Cache-Control"), "the newest version is not to be kept without asking")
	again, err := ask(t, d, leasesV3, "If-None-Match", answer.Header.Get("Etag"))
	require.NoError(t, err)
	assert.Equal(t, http.StatusNotModified, again.Code)

	binary := read(t, d, current, "Accept", "application/com.github.proto-openapi.spec.v3@v1.0+protobuf")
	assert.Equal(t, "application/com.github.proto-openapi.spec.v3.v1.0+protobuf", binary.ContentType)
}

func TestOpenAPIVersion3DescribesLeases(t *testing.T) {
	var spec struct {
		Components struct {
			Schemas map[string]struct {
				Kinds      []map[string]string `json:"x-kubernetes-group-version-kind"`
				Properties map[string]map[string]any
			}
		}
	}
	require.NoError(t, json.Unmarshal(read(t, documents(t), leasesV3).Body, &spec))
	schemas := spec.Components.Schemas
	assert.Equal(t, []map[string]string{{"group": "coordination.k8s.io", "version": "v1", "kind": "Lease"}}, schemas["io.k8s.api.coordination.v1.Lease"].Kinds)
	assert.Equal(t, []any{map[string]any{"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime"}},
		schemas["io.k8s.api.coordination.v1.LeaseSpec"].Properties["renewTime"]["allOf"])
	assert.Contains(t, schemas, "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions")
}

func TestDescriptionsAreCompressedForThoseWhoTakeIt(t *testing.T) {
	d := documents(t)
	for _, path := range []string{"/openapi/v2", leasesV3} {
		plain := read(t, d, path)
		small := read(t, d, path, "Accept-Encoding", "gzip")
		assert.Equal(t, "gzip", small.Header.Get("Content-Encoding"))
		assert.Contains(t, small.Header["Vary"], "Accept-Encoding")
		assert.Empty(t, plain.Header.Get("Content-Encoding"))
		assert.Less(t, len(small.Body), len(plain.Body)/2)
		unzip, err := gzip.NewReader(bytes.NewReader(small.Body))
		require.NoError(t, err)
		body, err := io.ReadAll(unzip)
		require.NoError(t, err)
		assert.Equal(t, plain.Body, body)
	}
}

func TestWhatIsServedMustBeDescribed(t *testing.T) {
	_, err := New("v1", Resource{Group: "other.example.com", Version: "v1", Kind: "Other", Plural: "others"})
	assert.ErrorContains(t, err, "other.example.com/v1 is not described")
	_, err = New("v1", Leases(), Resource{Version: "v2", Kind: "Other", Plural: "others"})
	assert.ErrorContains(t, err, "v2 is not described")
}
