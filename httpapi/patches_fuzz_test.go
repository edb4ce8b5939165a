package httpapi

import (
	"net/http"
	"testing"

	"sigs.k8s.io/yaml"
)

// patched are the Leases that patches are tried on; the last is not there.
var patched = []string{"held", "bare", "light", "marked", "new"}

// patchOf makes a patch: of each Lease, under each fieldValidation, forced or not, and as a dry run.
func patchOf(how uint16, contentType string, body []byte) call {
	pick := choice(how)
	target := fuzzLeases + "/" + patched[pick.of(len(patched))] + "?fieldValidation=" + []string{"Warn", "Ignore", "Strict"}[pick.of(3)]
	if contentType == "application/apply-patch+yaml" {
		target += "&fieldManager=" + []string{"fuzz", "applier"}[pick.of(2)] + []string{"&force=true", ""}[pick.of(2)]
	}
	if pick.of(4) == 3 {
		target += "&dryRun=All"
	}
	return call{method: http.MethodPatch, target: target, body: string(body), header: as(adminToken, "Content-Type", contentType)}
}

// fuzzPatch tries every body on every Lease to begin with.
func fuzzPatch(f *testing.F, contentType string, bodies ...string) {
	for i, body := range bodies {
		for how := range len(patched) {
			f.Add(uint16(how+len(patched)*(i%12)), []byte(body))
		}
	}
	door := openFuzzed(f)
	f.Fuzz(func(t *testing.T, how uint16, body []byte) {
		door.execute(t, patchOf(how, contentType, body))
	})
}

// FuzzJSONPatch sends JSON patches.
func FuzzJSONPatch(f *testing.F) {
	fuzzPatch(f, "application/json-patch+json",
		`[{"op":"replace","path":"/spec/holderIdentity","value":"x"},{"op":"add","path":"/metadata/labels","value":{"a~b":"c"}}]`,
		`[{"op":"test","path":"/metadata/labels/app","value":"one"},{"op":"remove","path":"/metadata/labels/app"},{"op":"add","path":"/metadata/labels/~0~1","value":"v"}]`,
		`[{"op":"copy","from":"/metadata/labels/app","path":"/spec/holderIdentity"},{"op":"move","from":"/spec/holderIdentity","path":"/metadata/annotations/note"}]`,
		`[{"op":"add","path":"/metadata/finalizers/-","value":"example.com/c"},{"op":"remove","path":"/metadata/finalizers/0"},{"op":"replace","path":"/metadata/finalizers/-1","value":"x"}]`,
		`[{"op":"replace","path":"spec/x"},{"op":"paint","path":"/a"}]`, `[{"op":"test","path":"","value":{}}]`, `[{"op":"remove","path":""}]`,
		`[{"op":"copy","from":"","path":"/metadata/annotations/a"},{"op":"copy","from":"/metadata","path":"/metadata/annotations"}]`,
		`[{"op":"replace","path":"/metadata/resourceVersion","value":"12"},{"op":"replace","path":"/metadata/uid","value":null}]`,
		`[{"op":"replace","path":"/metadata/resourceVersion","value":"twelve"}]`, `[{"op":"replace","path":"/metadata/managedFields","value":[{}]}]`,
		`[{"op":"replace","path":"/metadata/finalizers","value":[]},{"op":"add","path":"/spec/leaseDurationSeconds","value":15.0}]`,
		`[{"op":"add","path":"/metadata/finalizers/99999999999","value":"x"}]`, `{}`, `[`, `[null]`, `[{"op":null,"path":7}]`, `null`, `[]`, ``,
	)
}

// FuzzMergePatch sends merge patches.
func FuzzMergePatch(f *testing.F) {
	fuzzPatch(f, "application/merge-patch+json",
		`{"spec":{"holderIdentity":"x","renewTime":"2024-01-02T03:04:06.000000Z","leaseTransitions":null}}`,
		`{"metadata":{"labels":{"app":null,"new":"v"},"annotations":null,"finalizers":["example.com/b"]}}`,
		`{"metadata":{"resourceVersion":null}}`, `{"metadata":{"resourceVersion":"0"}}`, `{"metadata":{"resourceVersion":"1008","uid":"x"}}`,
		`{"metadata":{"resourceVersion":"twelve"}}`, `{"metadata":{"name":"other"}}`, `{"metadata":{"namespace":"another"}}`, `{"metadata":null}`, `{"spec":null}`,
		`{"metadata":{"managedFields":[{}]}}`, `{"metadata":{"managedFields":[{"manager":"m","operation":"Apply"}]}}`, `{"metadata":{"deletionTimestamp":null,"finalizers":null}}`,
		`{"kind":"Namespace"}`, `{"apiVersion":"coordination.k8s.io/v1beta1"}`, `{"spec":{"leaseDurationSeconds":"many"}}`, `{"spec":{"strategy":"x/y","unknown":[{}]}}`,
		`[]`, `null`, `"x"`, `7`, `{"spec":`, ``, `{"spec":{},"spec":{"holderIdentity":"y"}}`,
	)
}

// FuzzStrategicPatch sends strategic merge patches.
func FuzzStrategicPatch(f *testing.F) {
	fuzzPatch(f, "application/strategic-merge-patch+json",
		`{"spec":{"holderIdentity":"x","renewTime":"2024-01-02T03:04:06.000000Z","leaseTransitions":null}}`,
		`{"metadata":{"finalizers":["example.com/c"],"$setElementOrder/finalizers":["example.com/c","example.com/a"],"$deleteFromPrimitiveList/finalizers":["example.com/b"]}}`,
		`{"metadata":{"ownerReferences":[{"uid":"u1","name":"q","controller":true},{"uid":"u2","apiVersion":"v1","kind":"Pod","name":"r"}],"$setElementOrder/ownerReferences":[{"uid":"u2"},{"uid":"u1"}]}}`,
		`{"metadata":{"ownerReferences":[{"uid":"u1","$patch":"delete"}],"labels":{"$patch":"replace","x":"y"}}}`, `{"metadata":{"ownerReferences":[{"$patch":"replace"},{"uid":"u3"}]}}`,
		`{"$patch":"delete"}`, `{"spec":{"$patch":"explode"}}`, `{"spec":{"$retainKeys":["holderIdentity"],"holderIdentity":"x"}}`, `{"metadata":{"ownerReferences":[{"name":"q"}]}}`,
		`{"metadata":{"managedFields":[{"manager":"m"}],"resourceVersion":"1008"}}`, `{"metadata":{"finalizers":[["x"]]}}`, `{"metadata":{"finalizers":null,"labels":null}}`, `{"spec":null}`, `{"metadata":null}`,
		`{"metadata":{"labels":["x"]}}`, `{"spec":{"leaseDurationSeconds":1.5,"unknown":{}}}`, `[]`, `null`, `{"spec"`, ``, `{"metadata":{"$deleteFromPrimitiveList/finalizers":7,"$setElementOrder/labels":{}}}`,
	)
}

// FuzzApplyPatch applies configurations.
func FuzzApplyPatch(f *testing.F) {
	const head = `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"held"`
	bodies := []string{
		head + `,"labels":{"tier":"front"},"finalizers":["example.com/a","example.com/d"]},"spec":{"holderIdentity":"x","leaseDurationSeconds":1}}`,
		head + `,"ownerReferences":[{"uid":"u1","name":"p","apiVersion":"v1","kind":"Pod"},{"uid":"u1"}]},"spec":null}`,
		head + `},"spec":{"renewTime":"2024-01-02T03:04:05.000000Z","acquireTime":"2024-01-02T03:04:05Z"}}`,
		head + `,"managedFields":[]}}`, head + `,"resourceVersion":"1008","uid":"` + heldUID + `"}}`, head + `,"resourceVersion":"x","namespace":"ns"}}`,
		head + `,"labels":{"app":null},"unknown":1},"spec":{"leaseTransitions":"many"}}`, head + `}}`, `{"apiVersion":"v1","kind":"Lease","metadata":{"name":"held"}}`,
		`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"bare"},"spec":{"holderIdentity":"x"}}`,
		`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"new","labels":{"a":"b"}},"spec":{}}`,
		`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"marked","finalizers":[]}}`, `{}`, `[]`, `null`, `x`, ``,
	}
	for _, body := range bodies[:len(bodies)-5] {
		text, err := yaml.JSONToYAML([]byte(body))
		if err != nil {
			f.Fatal(err)
		}
		bodies = append(bodies, string(text))
	}
	bodies = append(bodies,
		"apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: held, labels: {? {x: y} : z}}\n", "- a\n--- \n!!binary x",
		"apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: held}\nspec: {holderIdentity: one, holderIdentity: two, leaseTransitions: 0x3}\n",
		"apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: &a {name: held, labels: *a}\n", "apiVersion: &v coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: new, annotations: {a: *v}}\n",
	)
	fuzzPatch(f, "application/apply-patch+yaml", bodies...)
}
