package media

import (
	"fmt"
	"math"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

// Bodies as clients really send them, and some that only look so.
var bodies = map[string]string{
	"client-go renewal": `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"node-1","namespace":"kube-node-lease","uid":"6b2f4c0e-6a39-4a7c-9f0f-1a2b3c4d5e6f","resourceVersion":"1234","creationTimestamp":"2024-01-01T00:00:00Z","ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"node-1","uid":"11111111-2222-3333-4444-555555555555"}],"managedFields":[{"manager":"kubelet","operation":"Update","apiVersion":"coordination.k8s.io/v1","time":"2024-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:ownerReferences":{".":{},"k:{\"uid\":\"11111111-2222-3333-4444-555555555555\"}":{}}},"f:spec":{"f:holderIdentity":{},"f:leaseDurationSeconds":{},"f:renewTime":{}}}}]},"spec":{"holderIdentity":"node-1","leaseDurationSeconds":40,"renewTime":"2024-01-01T00:00:10.123456Z"}}` + "\n",
	"client-go create":  `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"lock","namespace":"default","creationTimestamp":null},"spec":{"holderIdentity":"a_1","leaseDurationSeconds":15,"acquireTime":"2024-01-01T00:00:00.000001Z","renewTime":"2024-01-01T00:00:00.000001Z","leaseTransitions":0}}`,
	"python":            `{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "lock", "labels": {"a": "b", "c": ""}, "finalizers": ["example.com/x"], "annotations": {}}, "spec": {"holderIdentity": "a", "renewTime": "2024-02-29T23:59:59.999999Z", "leaseTransitions": -3}}`,
	"bare":              `{"metadata":{"name":"a"}}`,
	"spaces":            "\n\t{ \"metadata\" : { \"name\" : \"a\" , \"managedFields\" : [ { \"fieldsV1\" : { \"f:spec\" : { } , \"f:x\":{} } , \"manager\":\"m\" } ] } , \"spec\" : { } } \r\n",
	"candidate lock":    `{"kind":"Lease","metadata":{"name":"l","generateName":"l-","selfLink":"/x","generation":3,"deletionTimestamp":"2024-01-01T00:00:00Z","deletionGracePeriodSeconds":0,"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n","uid":"u","controller":true,"blockOwnerDeletion":false}]},"spec":{"strategy":"OldestEmulationVersion","preferredHolder":"b"}}`,
}

var strangeBodies = []string{
	``, `null`, `{}`, `[]`, `{"kind":"Lease"}x`, `{"kind":"lease"}`, `{"Kind":"Lease"}`, `{"spec":null}`, `{"spec":{"holderIdentity":null}}`,
	`{"spec":{"leaseDurationSeconds":15.0}}`, `{"spec":{"leaseDurationSeconds":1e1}}`, `{"spec":{"leaseDurationSeconds":2147483648}}`,
	`{"spec":{"leaseDurationSeconds":-2147483648}}`, `{"spec":{"leaseDurationSeconds":01}}`, `{"spec":{"leaseDurationSeconds":-0}}`,
	`{"spec":{"leaseDurationSeconds":-}}`, `{"spec":{"renewTime":"2024-02-30T00:00:00.000000Z"}}`, `{"spec":{"renewTime":"2024-01-01T00:00:00Z"}}`,
	`{"spec":{"renewTime":"2024-01-01T24:00:00.000000Z"}}`, `{"spec":{"renewTime":"2024-01-01t00:00:00.000000Z"}}`,
	`{"spec":{"renewTime":"2024-01-01T00:00:00,000000Z"}}`, `{"spec":{"renewTime":"0001-01-01T00:00:00.000000Z"}}`,
	`{"spec":{"holderIdentity":"a","holderIdentity":"b"}}`, `{"metadata":{"labels":{"a":"b","a":"c"}}}`, `{"metadata":{"labels":{"a":1}}}`,
	`{"metadata":{"managedFields":[{"fieldsV1":{"a":1}}]}}`, `{"metadata":{"managedFields":[{"fieldsV1":{"a":{},}}]}}`,
	`{"metadata":{"managedFields":[{"fieldsV1":{}}},{}]}}`, `{"metadata":{"managedFields":[{"fieldsV1":{"a":{},"a":{}}}]}}`,
	`{"metadata":{"managedFields":[{"fieldsV1":{"\u0041":{}}}]}}`, `{"metadata":{"finalizers":["a",]}}`, `{"metadata":{"finalizers":[,]}}`,
	`{"metadata":{"name":"a",}}`, `{"metadata":{"name":"\u0061"}}`, "{\"metadata\":{\"name\":\"\xff\"}}", "{\"metadata\":{\"name\":\"a\nb\"}}",
	`{"metadata":{"creationTimestamp":nullx}}`, `{"metadata":{"creationTimestamp":"2024-01-01T00:00:00.5Z"}}`, `{"metadata":{"generation":12345678901234567890}}`,
	`{"apiVersion":"coordination.k8s.io/v1beta1","kind":"Lease"}`, `{"apiVersion":"v1","kind":"Namespace"}`, `{"a":1,"a":2}`, `{"metadata":{}} {}`,
	`{"metadata":{"ownerReferences":[{"controller":tru}]}}`, `{"metadata":{"ownerReferences":[{"controller":truee}]}}`, `{"status":{}}`,
}

// drawer draws the parts of objects, the strange ones included.
type drawer struct{ *rapid.T }

var anyText = rapid.OneOf(rapid.StringMatching(`[a-z0-9.\-/:_]{0,12}`), rapid.String(), rapid.SampledFrom([]string{"", "<b>&", "a\"b\\", "\u2028\x7f\x00", "\xff"}))

func (d drawer) text(label string) string { return anyText.Draw(d.T, label) }

func (d drawer) maybe(label string) bool { return rapid.IntRange(0, 2).Draw(d.T, label) > 0 }

func (d drawer) moment(label string) time.Time {
	if rapid.IntRange(0, 9).Draw(d.T, label+" zero") == 0 {
		return time.Time{}
	}
	return time.UnixMicro(rapid.Int64Range(-62e15, 300e15).Draw(d.T, label)).In(time.FixedZone("x", rapid.IntRange(-50000, 50000).Draw(d.T, "zone")))
}

func (d drawer) meta(m *metav1.ObjectMeta) {
	m.Name, m.GenerateName, m.Namespace = d.text("name"), d.text("generateName"), d.text("namespace")
	m.SelfLink, m.UID, m.ResourceVersion = d.text("selfLink"), types.UID(d.text("uid")), d.text("version")
	m.Generation = rapid.Int64().Draw(d.T, "generation")
	m.CreationTimestamp = metav1.Time{Time: d.moment("created")}
	if d.maybe("deleted") {
		m.DeletionTimestamp = &metav1.Time{Time: d.moment("deletion")}
		m.DeletionGracePeriodSeconds = pointer(rapid.Int64().Draw(d.T, "grace"))
	}
	m.Labels = rapid.MapOfN(anyText, anyText, -1, 10).Draw(d.T, "labels")
	m.Annotations = rapid.MapOfN(anyText, anyText, -1, 3).Draw(d.T, "annotations")
	m.Finalizers = rapid.SliceOfN(anyText, 0, 3).Draw(d.T, "finalizers")
	for range rapid.IntRange(0, 2).Draw(d.T, "owners") {
		owner := metav1.OwnerReference{APIVersion: d.text("owner"), Kind: d.text("owner"), Name: d.text("owner"), UID: types.UID(d.text("owner"))}
		if d.maybe("flags") {
			owner.Controller, owner.BlockOwnerDeletion = pointer(rapid.Bool().Draw(d.T, "c")), pointer(rapid.Bool().Draw(d.T, "b"))
		}
		m.OwnerReferences = append(m.OwnerReferences, owner)
	}
	for range rapid.IntRange(0, 3).Draw(d.T, "managers") {
		entry := metav1.ManagedFieldsEntry{Manager: d.text("m"), Operation: metav1.ManagedFieldsOperationType(d.text("op")),
			APIVersion: d.text("v"), FieldsType: d.text("type"), Subresource: d.text("sub")}
		if d.maybe("time") {
			entry.Time = &metav1.Time{Time: d.moment("time")}
		}
		if d.maybe("fields") {
			entry.FieldsV1 = metav1.NewFieldsV1(rapid.SampledFrom([]string{`{}`, `{"f:spec":{"f:holderIdentity":{}}}`, `{"f:a":{".":{},"f:b":{}},"f:c":{}}`,
				`{ "f:a" : {} }`, `{"f:finalizers":{"v:\"example.com/x\"":{}}}`, `{"<":{}}`, `{"f:é":{}}`, `{"a":1}`, `[]`, `null`, ``}).Draw(d.T, "set"))
		}
		m.ManagedFields = append(m.ManagedFields, entry)
	}
}

// leases draws Leases of every shape.
var leases = rapid.Custom(func(t *rapid.T) *coordinationv1.Lease {
	d := drawer{t}
	l := &coordinationv1.Lease{}
	d.meta(&l.ObjectMeta)
	if d.maybe("holder") {
		l.Spec.HolderIdentity = pointer(d.text("holder"))
	}
	if d.maybe("numbers") {
		number := rapid.OneOf(rapid.Int32(), rapid.SampledFrom([]int32{0, 15, math.MaxInt32, math.MinInt32}))
		l.Spec.LeaseDurationSeconds, l.Spec.LeaseTransitions = pointer(number.Draw(t, "n")), pointer(number.Draw(t, "n"))
	}
	if d.maybe("times") {
		l.Spec.AcquireTime, l.Spec.RenewTime = &metav1.MicroTime{Time: d.moment("acquire")}, &metav1.MicroTime{Time: d.moment("renew")}
	}
	if d.maybe("strategy") {
		l.Spec.Strategy = pointer(coordinationv1.CoordinatedLeaseStrategy(d.text("strategy")))
		l.Spec.PreferredHolder = pointer(d.text("preferred"))
	}
	return l
})

// candidates draws LeaseCandidates of every shape.
var candidates = rapid.Custom(func(t *rapid.T) *coordinationv1beta1.LeaseCandidate {
	d := drawer{t}
	c := &coordinationv1beta1.LeaseCandidate{}
	d.meta(&c.ObjectMeta)
	c.Spec.LeaseName, c.Spec.BinaryVersion, c.Spec.EmulationVersion = d.text("lease"), d.text("binary"), d.text("emulation")
	c.Spec.Strategy = coordinationv1.CoordinatedLeaseStrategy(d.text("strategy"))
	if d.maybe("times") {
		c.Spec.PingTime, c.Spec.RenewTime = &metav1.MicroTime{Time: d.moment("ping")}, &metav1.MicroTime{Time: d.moment("renew")}
	}
	return c
})

// heartbeat is a Lease as a kubelet renews it.
func heartbeat(n int) *coordinationv1.Lease {
	name := fmt.Sprintf("node-%d", n)
	lease := Leases.scan([]byte(strings.ReplaceAll(bodies["client-go renewal"], "node-1", name))).(*coordinationv1.Lease)
	lease.ResourceVersion = ""
	return lease
}
