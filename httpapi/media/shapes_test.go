package media

import (
	"fmt"
	"math"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
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

// leases draws Leases of every shape, the strange ones included.
var leases = rapid.Custom(func(t *rapid.T) *coordinationv1.Lease {
	text := rapid.OneOf(rapid.StringMatching(`[a-z0-9.\-/:_]{0,12}`), rapid.String(), rapid.SampledFrom([]string{"", "<b>&", "a\"b\\", "\u2028\x7f\x00", "\xff"}))
	maybe := func(label string) bool { return rapid.IntRange(0, 2).Draw(t, label) > 0 }
	moment := func(label string) time.Time {
		if rapid.IntRange(0, 9).Draw(t, label+" zero") == 0 {
			return time.Time{}
		}
		return time.UnixMicro(rapid.Int64Range(-62e15, 300e15).Draw(t, label)).In(time.FixedZone("x", rapid.IntRange(-50000, 50000).Draw(t, "zone")))
	}
	l := &coordinationv1.Lease{}
	m := &l.ObjectMeta
	m.Name, m.GenerateName, m.Namespace = text.Draw(t, "name"), text.Draw(t, "generateName"), text.Draw(t, "namespace")
	m.SelfLink, m.UID, m.ResourceVersion = text.Draw(t, "selfLink"), types.UID(text.Draw(t, "uid")), text.Draw(t, "version")
	m.Generation = rapid.Int64().Draw(t, "generation")
	m.CreationTimestamp = metav1.Time{Time: moment("created")}
	if maybe("deleted") {
		m.DeletionTimestamp = &metav1.Time{Time: moment("deletion")}
		m.DeletionGracePeriodSeconds = pointer(rapid.Int64().Draw(t, "grace"))
	}
	m.Labels = rapid.MapOfN(text, text, -1, 10).Draw(t, "labels")
	m.Annotations = rapid.MapOfN(text, text, -1, 3).Draw(t, "annotations")
	m.Finalizers = rapid.SliceOfN(text, 0, 3).Draw(t, "finalizers")
	for range rapid.IntRange(0, 2).Draw(t, "owners") {
		owner := metav1.OwnerReference{APIVersion: text.Draw(t, "owner"), Kind: text.Draw(t, "owner"), Name: text.Draw(t, "owner"), UID: types.UID(text.Draw(t, "owner"))}
		if maybe("flags") {
			owner.Controller, owner.BlockOwnerDeletion = pointer(rapid.Bool().Draw(t, "c")), pointer(rapid.Bool().Draw(t, "b"))
		}
		m.OwnerReferences = append(m.OwnerReferences, owner)
	}
	for range rapid.IntRange(0, 3).Draw(t, "managers") {
		entry := metav1.ManagedFieldsEntry{Manager: text.Draw(t, "m"), Operation: metav1.ManagedFieldsOperationType(text.Draw(t, "op")),
			APIVersion: text.Draw(t, "v"), FieldsType: text.Draw(t, "type"), Subresource: text.Draw(t, "sub")}
		if maybe("time") {
			entry.Time = &metav1.Time{Time: moment("time")}
		}
		if maybe("fields") {
			entry.FieldsV1 = metav1.NewFieldsV1(rapid.SampledFrom([]string{`{}`, `{"f:spec":{"f:holderIdentity":{}}}`, `{"f:a":{".":{},"f:b":{}},"f:c":{}}`,
				`{ "f:a" : {} }`, `{"f:finalizers":{"v:\"example.com/x\"":{}}}`, `{"<":{}}`, `{"f:é":{}}`, `{"a":1}`, `[]`, `null`, ``}).Draw(t, "set"))
		}
		m.ManagedFields = append(m.ManagedFields, entry)
	}
	if maybe("holder") {
		l.Spec.HolderIdentity = pointer(text.Draw(t, "holder"))
	}
	if maybe("numbers") {
		number := rapid.OneOf(rapid.Int32(), rapid.SampledFrom([]int32{0, 15, math.MaxInt32, math.MinInt32}))
		l.Spec.LeaseDurationSeconds, l.Spec.LeaseTransitions = pointer(number.Draw(t, "n")), pointer(number.Draw(t, "n"))
	}
	if maybe("times") {
		l.Spec.AcquireTime, l.Spec.RenewTime = &metav1.MicroTime{Time: moment("acquire")}, &metav1.MicroTime{Time: moment("renew")}
	}
	if maybe("strategy") {
		l.Spec.Strategy = pointer(coordinationv1.CoordinatedLeaseStrategy(text.Draw(t, "strategy")))
		l.Spec.PreferredHolder = pointer(text.Draw(t, "preferred"))
	}
	return l
})

// heartbeat is a Lease as a kubelet renews it.
func heartbeat(n int) *coordinationv1.Lease {
	name := fmt.Sprintf("node-%d", n)
	lease := Leases.scan([]byte(strings.ReplaceAll(bodies["client-go renewal"], "node-1", name))).(*coordinationv1.Lease)
	lease.ResourceVersion = ""
	return lease
}
