package fieldmanager

import (
	"testing"

	"github.com/leasehold/leasehold/httpapi/lease"
	"github.com/leasehold/leasehold/httpapi/media"
)

// FuzzApply sees to it that no applied configuration brings the server down.
func FuzzApply(f *testing.F) {
	const head = `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"a"`
	f.Add([]byte(head + `,"labels":{"k":"v"},"finalizers":["a/b"]},"spec":{"holderIdentity":"x","leaseDurationSeconds":1}}`))
	f.Add([]byte(head + `,"ownerReferences":[{"uid":"u1","name":"p"},{"uid":"u1"}]},"spec":null}`))
	f.Add([]byte(head + `,"managedFields":null},"spec":{"renewTime":"2024-01-02T03:04:05.000000Z"}}`))
	f.Add([]byte("apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: a, labels: {? {x: y} : z}}\n"))
	f.Add([]byte("- a\n--- \n!!binary x"))
	m, err := New(lease.Kind)
	if err != nil {
		f.Fatal(err)
	}
	current, _ := renewed(f, m)
	f.Fuzz(func(t *testing.T, body []byte) {
		next, _, err := m.Apply(current, body, media.YAML, "kubectl", true, "", testNow)
		if (next == nil) == (err == nil) {
			t.Fatalf("%v and %v", next, err)
		}
	})
}
