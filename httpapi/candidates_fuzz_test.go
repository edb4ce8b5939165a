package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/leasehold/leasehold/fsm"
)

const candidateSpec = `{"leaseName":"l","binaryVersion":"1.2.3","emulationVersion":"1.2.0","strategy":"OldestEmulationVersion","pingTime":"2024-01-02T03:04:05.678901Z","renewTime":"2024-01-02T03:04:06.678901Z"}`

// candidateBodies are LeaseCandidates to begin with, and patches of them.
var candidateBodies = []string{
	`{"metadata":{"name":"new"},"spec":` + candidateSpec + `}`,
	`{"apiVersion":"coordination.k8s.io/v1alpha2","kind":"LeaseCandidate","metadata":{"generateName":"C_","labels":{"a":"b"},"finalizers":["example.com/a"]},"spec":` + candidateSpec + `}`,
	`{"apiVersion":"coordination.k8s.io/v1beta1","kind":"LeaseCandidate","metadata":{"name":"stored","resourceVersion":"1009"},"spec":{"leaseName":"l","binaryVersion":"2.0.0","strategy":"example.com/own"}}`,
	`{"metadata":{"name":"stored","resourceVersion":"1009"},"spec":{"leaseName":"m","binaryVersion":"01.x","emulationVersion":"9.9.9","strategy":"a/b/c"}}`,
	`{"spec":{"renewTime":"2024-01-02T03:04:07.000000Z","pingTime":null}}`, `{"metadata":{"labels":{"a":null}},"spec":{"leaseName":"other"}}`, `{"spec":null}`,
	`{"apiVersion":"coordination.k8s.io/v1beta1","kind":"LeaseCandidate","metadata":{"name":"stored"},"spec":{"binaryVersion":"1.2.4"}}`,
	`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"new"}}`, `[{"op":"replace","path":"/spec/binaryVersion","value":"3.0.0"}]`, `{`, ``,
}

// candidateWrites are all ways to write one.
var candidateWrites = []struct{ method, name, contentType string }{
	{http.MethodPost, "", "application/json"},
	{http.MethodPut, "/stored", "application/json"},
	{http.MethodPut, "/new", "application/yaml"},
	{http.MethodPut, "/stored", "application/vnd.kubernetes.protobuf"},
	{http.MethodPatch, "/stored", "application/merge-patch+json"},
	{http.MethodPatch, "/stored", "application/json-patch+json"},
	{http.MethodPatch, "/stored", "application/strategic-merge-patch+json"},
	{http.MethodPatch, "/stored?fieldManager=m&force=true", "application/apply-patch+yaml"},
}

var candidateVersions = []string{"v1beta1", "v1alpha2"}

func candidatesPath(version string) string {
	return "/apis/coordination.k8s.io/" + version + "/namespaces/ns/leasecandidates"
}

// FuzzCandidate writes LeaseCandidates in every way, in both versions; what is written in one is there in the other.
func FuzzCandidate(f *testing.F) {
	for i, body := range candidateBodies {
		for way := range candidateWrites {
			how := uint16(way + len(candidateWrites)*(i%2))
			f.Add(how, []byte(body))
			if candidateWrites[way].contentType == "application/vnd.kubernetes.protobuf" {
				kind := schema.GroupVersionKind{Group: "coordination.k8s.io", Version: candidateVersions[i%2], Kind: "LeaseCandidate"}
				if object, _, err := looseJSON.Decode([]byte(body), &kind, nil); err == nil {
					var encoded bytes.Buffer
					require.NoError(f, protoAnswer.Encode(object, &encoded))
					f.Add(how, encoded.Bytes())
				}
			}
		}
	}
	door := openFuzzed(f)
	door.keep(f, call{method: http.MethodPost, target: candidatesPath("v1beta1"), header: as(adminToken), body: `{"metadata":{"name":"stored","labels":{"a":"b"}},"spec":` + candidateSpec + `}`})
	f.Fuzz(func(t *testing.T, how uint16, body []byte) {
		pick := choice(how)
		way := candidateWrites[pick.of(len(candidateWrites))]
		version := pick.of(2)
		c := call{method: way.method, target: candidatesPath(candidateVersions[version]) + way.name, body: string(body), header: as(adminToken, "Content-Type", way.contentType)}
		before := door.stockRevision()
		answer := door.execute(t, c)
		if answer.code >= 300 || door.node.State().Revision() == before {
			return
		}
		changed := door.holdings().newest()
		if changed == nil {
			return // the last finalizer was taken off
		}
		told := func(version string) string {
			got := door.get(place{version: version}, changed.Key, "application/json", nil)
			var object struct{ Metadata, Spec any }
			require.NoError(t, json.Unmarshal(got.body.Bytes(), &object))
			text, err := json.MarshalIndent(object, "", " ")
			require.NoError(t, err)
			return string(text)
		}
		if one, other := told(candidateVersions[version]), told(candidateVersions[1-version]); one != other {
			t.Fatalf("in one version it is\n%s\nin the other\n%s", one, other)
		}
	})
}

// keep adds what a request writes to what the door stores before each.
func (d *fuzzed) keep(t testing.TB, c call) {
	d.refresh(t)
	answer := d.send(c)
	require.Equal(t, http.StatusCreated, answer.code, answer.body.String())
	kept := d.holdings().newest()
	d.stock = append(d.stock, fsm.Command{Op: fsm.OpCreate, Key: kept.Key, UID: kept.UID, Object: kept.Data})
	d.pristine = append(d.pristine, bytes.Clone(kept.Data))
}

// newest is the object of the last change, nil if that removed one.
func (h holdings) newest() *fsm.Object {
	for _, object := range h.objects {
		if object.Revision == h.revision {
			return object
		}
	}
	return nil
}
