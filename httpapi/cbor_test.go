package httpapi

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"

	"github.com/leasehold/leasehold/fsm"
	"github.com/leasehold/leasehold/httpapi/media"
)

func withCBOR(c *Config) { c.CBOR = true }

const (
	cborType     = "application/cbor"
	selfDescribe = "\xd9\xd9\xf7"
)

// inCBOR is JSON as a client would write it in CBOR.
func inCBOR(t *testing.T, text string) string {
	t.Helper()
	body, err := media.Accepted{Encoding: media.CBOR}.Convert([]byte(text))
	require.NoError(t, err)
	return string(body)
}

// fromCBOR reads an answer, which must begin with the tag and hold one item.
func fromCBOR(t *testing.T, got answer) map[string]any {
	t.Helper()
	assert.Equal(t, []string{cborType}, got.Header["Content-Type"])
	require.True(t, strings.HasPrefix(got.body, selfDescribe), "%q", got.body)
	var tree map[string]any
	require.NoError(t, direct.Unmarshal([]byte(got.body), &tree))
	return tree
}

func TestCBORIsUnknownWithoutItsGate(t *testing.T) {
	d := openDoor(t)
	assert.Equal(t, 406, d.do(t, "GET", leasesPath, "", "Accept", cborType).StatusCode)
	assert.Equal(t, "application/json", d.do(t, "GET", leasesPath, "", "Accept", "application/cbor,application/json").Header.Get("Content-Type"))
	assert.Equal(t, 406, d.do(t, "GET", "/apis/coordination.k8s.io/v1", "", "Accept", cborType).StatusCode)
	body := inCBOR(t, `{"metadata":{"name":"a"}}`)
	refused := d.do(t, "POST", leasesPath, body, "Content-Type", cborType)
	assert.Equal(t, 415, refused.StatusCode)
	assert.NotContains(t, refused.body, "cbor")
	assert.Equal(t, 415, d.do(t, "PATCH", leasesPath+"/a?fieldManager=m", body, "Content-Type", "application/apply-patch+cbor").StatusCode)
	assert.Zero(t, d.store.State().Count("leases", "", ""))
}

func TestObjectsComeAndGoInCBOR(t *testing.T) {
	d := openDoor(t, withCBOR)
	made := fromCBOR(t, d.do(t, "POST", leasesPath, inCBOR(t, `{"metadata":{"name":"a"},"spec":{"leaseDurationSeconds":3,"renewTime":"2024-01-02T03:04:05.678901Z"}}`),
		"Content-Type", cborType, "Accept", cborType))
	spec := made["spec"].(map[string]any)
	assert.Equal(t, "2024-01-02T03:04:05.678901Z", spec["renewTime"])
	assert.Equal(t, int64(3), spec["leaseDurationSeconds"])
	owned := made["metadata"].(map[string]any)["managedFields"].([]any)[0].(map[string]any)["fieldsV1"]
	assert.Equal(t, map[string]any{"f:spec": map[string]any{"f:leaseDurationSeconds": map[string]any{}, "f:renewTime": map[string]any{}}}, owned)

	assert.Equal(t, made, fromCBOR(t, d.do(t, "GET", leasesPath+"/a", "", "Accept", cborType)))
	list := fromCBOR(t, d.do(t, "GET", leasesPath, "", "Accept", cborType))
	assert.Equal(t, "LeaseList", list["kind"])
	delete(made, "kind")
	delete(made, "apiVersion")
	assert.Equal(t, []any{made}, list["items"])

	version := made["metadata"].(map[string]any)["resourceVersion"]
	updated := d.do(t, "PUT", leasesPath+"/a", inCBOR(t, fmt.Sprintf(`{"metadata":{"name":"a","resourceVersion":"%s"}}`, version)), "Content-Type", cborType)
	assert.Equal(t, 200, updated.StatusCode)
	assert.Equal(t, "application/json", updated.Header.Get("Content-Type"))

	partial := fromCBOR(t, d.do(t, "GET", leasesPath+"/a", "", "Accept", cborType+";as=PartialObjectMetadata;v=v1;g=meta.k8s.io"))
	assert.Equal(t, "PartialObjectMetadata", partial["kind"])
	partial = fromCBOR(t, d.do(t, "GET", leasesPath, "", "Accept", cborType+";as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"))
	assert.Equal(t, "PartialObjectMetadata", partial["items"].([]any)[0].(map[string]any)["kind"])

	deleted := fromCBOR(t, d.do(t, "DELETE", leasesPath+"/a", inCBOR(t, `{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Background"}`), "Content-Type", cborType, "Accept", cborType))
	assert.Equal(t, "Success", deleted["status"])
	missing := d.do(t, "GET", leasesPath+"/a", "", "Accept", cborType)
	assert.Equal(t, 404, missing.StatusCode)
	assert.Equal(t, "NotFound", fromCBOR(t, missing)["reason"])
}

func TestWhatThereIsNotInCBOR(t *testing.T) {
	d := openDoor(t, withCBOR)
	const types = "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf, application/cbor"
	for _, query := range []string{"", "?watch=true&timeoutSeconds=1"} {
		for _, accept := range []string{cborType + ";as=Table;v=v1;g=meta.k8s.io", "application/cbor-seq"} {
			refused := d.do(t, "GET", leasesPath+query, "", "Accept", accept)
			assert.Equal(t, 406, refused.StatusCode, accept+query)
			assert.JSONEq(t, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","code":406,"reason":"NotAcceptable","message":"`+types+`"}`, refused.body)
		}
	}
	// No watch is to be had of one object, so the router refuses there.
	assert.Contains(t, d.do(t, "GET", leasesPath+"/a", "", "Accept", "application/cbor-seq").body, `"details": {}`)

	require.Equal(t, 201, d.do(t, "POST", leasesPath, `{"metadata":{"name":"a"}}`).StatusCode)
	for _, kind := range []string{"merge-patch", "json-patch", "strategic-merge-patch"} {
		assert.Equal(t, 415, d.do(t, "PATCH", leasesPath+"/a", inCBOR(t, `{}`), "Content-Type", "application/"+kind+"+cbor").StatusCode)
	}
	unread := d.do(t, "POST", leasesPath, "x", "Content-Type", "text/plain")
	assert.Contains(t, unread.body, "application/vnd.kubernetes.protobuf, application/cbor")
}

func TestApplyInCBOR(t *testing.T) {
	d := openDoor(t, withCBOR)
	apply := func(manager, text string) answer {
		return d.do(t, "PATCH", leasesPath+"/a?fieldManager="+manager, text, "Content-Type", "application/apply-patch+cbor")
	}
	const head = `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"a"},"spec":{"holderIdentity":`
	made := apply("alpha", inCBOR(t, head+`"one"}}`))
	assert.Equal(t, 201, made.StatusCode)
	assert.Contains(t, made.body, `"operation":"Apply"`)
	again := apply("alpha", inCBOR(t, head+`"one"}}`))
	assert.Equal(t, 200, again.StatusCode)
	assert.Equal(t, made.body, again.body)
	refused := apply("beta", inCBOR(t, head+`"two"}}`))
	assert.Equal(t, 409, refused.StatusCode)
	assert.Contains(t, refused.body, "FieldManagerConflict")

	garbage := apply("alpha", "not cbor")
	assert.Equal(t, 400, garbage.StatusCode)
	assert.Contains(t, garbage.body, "error decoding patch: unexpected EOF")
	assert.Equal(t, 400, apply("alpha", inCBOR(t, `5`)).StatusCode)
	assert.Equal(t, 400, apply("alpha", inCBOR(t, head+`"one"}}`)+"\xa0").StatusCode)
	assert.Equal(t, 422, apply("", inCBOR(t, head+`"one"}}`)).StatusCode, "no manager")
	assert.Equal(t, 500, apply("alpha", inCBOR(t, head+`5}}`)).StatusCode, "as in YAML")
	assert.Equal(t, 400, apply("alpha", "\xa2\x41a\x01\x41a\x02").StatusCode, "the same key twice")
}

func TestWatchInCBORIsASequence(t *testing.T) {
	d := openDoor(t, withCBOR)
	d.store.change(t, fsm.OpCreate, "ns", "a", nil)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", d.server.URL+leasesPath+"?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true", nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+adminToken)
	r.Header.Set("Accept", cborType)
	response, err := d.client.Do(r)
	require.NoError(t, err)
	defer response.Body.Close()
	assert.Equal(t, "application/cbor-seq", response.Header.Get("Content-Type"))

	var read bytes.Buffer
	frames := cbor.NewFramer().NewFrameReader(io.NopCloser(io.TeeReader(response.Body, &read)))
	buffer := make([]byte, 64<<10)
	next := func() (event string, object metav1.PartialObjectMetadata) {
		size, err := frames.Read(buffer)
		require.NoError(t, err)
		var told metav1.WatchEvent
		require.NoError(t, direct.Unmarshal(buffer[:size], &told))
		require.True(t, bytes.HasPrefix(told.Object.Raw, []byte(selfDescribe)))
		var tree map[string]any
		require.NoError(t, direct.Unmarshal(told.Object.Raw, &tree))
		assert.Equal(t, "Lease", tree["kind"])
		assert.Equal(t, map[string]any{}, tree["spec"])
		object.Name, _ = tree["metadata"].(map[string]any)["name"].(string)
		return told.Type, object
	}
	event, object := next()
	assert.Equal(t, "ADDED a", event+" "+object.Name)
	event, _ = next()
	assert.Equal(t, "BOOKMARK", event)
	d.store.change(t, fsm.OpDelete, "ns", "a", nil)
	for event == "BOOKMARK" {
		event, object = next()
	}
	assert.Equal(t, "DELETED a", event+" "+object.Name)
	assert.Contains(t, read.String(), "k8s.io/initial-events-end")
	assert.True(t, strings.HasPrefix(read.String(), selfDescribe), "each event has the tag, and so has the object in it")
	assert.Equal(t, strings.Count(read.String(), "object"+selfDescribe)*2, strings.Count(read.String(), selfDescribe))
}

func TestErrorsOfAWatchAreInCBORToo(t *testing.T) {
	d := openDoor(t, withCBOR)
	first := d.store.change(t, fsm.OpCreate, "ns", "a", nil)
	got := d.do(t, "GET", fmt.Sprintf("%s?watch=true&resourceVersion=%d", leasesPath, first-2), "", "Accept", cborType)
	var told metav1.WatchEvent
	require.NoError(t, direct.Unmarshal([]byte(got.body), &told))
	assert.Equal(t, "ERROR", told.Type)
	var status map[string]any
	require.NoError(t, direct.Unmarshal(told.Object.Raw, &status))
	assert.Equal(t, "Expired", status["reason"])
}

func TestDiscoveryInCBOR(t *testing.T) {
	d := openDoor(t, withCBOR)
	for path, kind := range map[string]string{
		"/api": "APIVersions", "/apis": "APIGroupList", "/apis/coordination.k8s.io": "APIGroup", "/apis/coordination.k8s.io/v1": "APIResourceList",
	} {
		assert.Equal(t, kind, fromCBOR(t, d.do(t, "GET", path, "", "Accept", cborType))["kind"])
		assert.Equal(t, "application/json", d.do(t, "GET", path, "", "Accept", "*/*").Header.Get("Content-Type"))
	}
	const parameters = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	got := d.do(t, "GET", "/apis", "", "Accept", cborType+parameters)
	assert.Equal(t, cborType+parameters, got.Header.Get("Content-Type"))
	assert.True(t, strings.HasPrefix(got.body, selfDescribe))
	assert.Equal(t, 304, d.do(t, "GET", "/apis", "", "Accept", cborType+parameters, "If-None-Match", got.Header.Get("Etag")).StatusCode)
	assert.Equal(t, "application/json", d.do(t, "GET", "/version", "", "Accept", cborType+",*/*").Header.Get("Content-Type"))
}
