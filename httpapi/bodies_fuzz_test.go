package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

const (
	fuzzLeases = "/apis/coordination.k8s.io/v1/namespaces/ns/leases"
	heldPath   = fuzzLeases + "/held"
)

var leaseKind = coordinationv1.SchemeGroupVersion.WithKind("Lease")

// writes are the requests whose body is a whole Lease.
var writes = []struct{ method, path string }{
	{http.MethodPost, fuzzLeases},
	{http.MethodPut, heldPath},
	{http.MethodPut, fuzzLeases + "/new"},
	{http.MethodPut, fuzzLeases + "/bare"},
	{http.MethodPut, fuzzLeases + "/marked"},
}

// write makes one of them: of each method, of each object, under each fieldValidation, and as a dry run.
func write(how uint16, contentType string, body []byte) call {
	pick := choice(how)
	target := writes[pick.of(len(writes))]
	query := "?fieldValidation=" + []string{"Warn", "Ignore", "Strict"}[pick.of(3)]
	if pick.of(4) == 3 {
		query += "&dryRun=All"
	}
	return call{method: target.method, target: target.path + query, body: string(body), header: as(adminToken, "Content-Type", contentType)}
}

// leaseBodies are Leases to begin with, as JSON.
var leaseBodies = []string{
	`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"new","labels":{"a":"b"},"annotations":{"n":"\u00e9"},"finalizers":["example.com/a"]},"spec":{"holderIdentity":"x","leaseDurationSeconds":15,"acquireTime":"2024-01-02T03:04:05.678901Z","renewTime":"2024-01-02T03:04:05.678901+01:00","leaseTransitions":3}}`,
	`{"metadata":{"name":"held","resourceVersion":"1008","uid":"` + heldUID + `","labels":{"app":"two"},"finalizers":["example.com/a","example.com/b"]},"spec":{"holderIdentity":"","strategy":"OldestEmulationVersion","preferredHolder":"two","renewTime":null}}`,
	`{"metadata":{"name":"bare","resourceVersion":"1006","ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u"},{"apiVersion":"v1","kind":"Pod","name":"q","uid":"u","controller":true,"blockOwnerDeletion":false}]},"spec":{}}`,
	`{"metadata":{"name":"marked","resourceVersion":"1007","finalizers":[]},"spec":{}}`,
	`{"metadata":{"generateName":"new-","managedFields":[{"manager":"m","operation":"Update","apiVersion":"coordination.k8s.io/v1","time":"2024-01-02T03:04:05Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:holderIdentity":{}}}}]},"spec":{"holderIdentity":"x"}}`,
	`{"metadata":{"name":"held","resourceVersion":"x1","managedFields":[{}]},"spec":{"leaseDurationSeconds":0,"leaseTransitions":-1,"strategy":"a/b/c","unknown":1,"unknown":2}}`,
	`{"kind":"LeaseCandidate","apiVersion":"coordination.k8s.io/v1beta1","metadata":{"name":"new"}}`,
	`{"metadata":{"name":"new","creationTimestamp":null,"deletionTimestamp":"2024-01-02T03:04:05Z","deletionGracePeriodSeconds":1e1,"generation":9007199254740993}}`,
	`{"metadata":{"name":"new","resourceVersion":"12","selfLink":"/x","namespace":"another"}}`,
	`[]`, `null`, `"x"`, `{"metadata":`, `{"metadata":{"name":"new"}}{}`, ``, `{"metadata":{"name":"new","name":"held"},"Spec":{}}`,
}

// seedWrites adds the bodies, in an encoding, to every kind of write.
func seedWrites(f *testing.F, encode func(body string) []byte) {
	for i, body := range leaseBodies {
		if encoded := encode(body); encoded != nil {
			for how := range len(writes) {
				f.Add(uint16(how+len(writes)*(i%3)), encoded)
			}
			f.Add(uint16(len(writes)*3*3), encoded)
		}
	}
}

// FuzzJSONBody sends creates and updates with JSON. What is accepted gives the same object when it is sent in the other
// encodings, and the same by the general decoder as by the door's own.
func FuzzJSONBody(f *testing.F) {
	seedWrites(f, func(body string) []byte { return []byte(body) })
	door := openFuzzed(f)
	f.Fuzz(func(t *testing.T, how uint16, body []byte) {
		c := write(how, "application/json", body)
		answer := door.execute(t, c)
		if answer.code < 300 {
			door.checkEncodings(t, c, answer)
		}
	})
}

// checkEncodings sends the Lease of an accepted JSON body again, to a new store, in every other encoding.
func (d *fuzzed) checkEncodings(t *testing.T, c call, answer *recorded) {
	sent, _, err := looseJSON.Decode([]byte(c.body), &leaseKind, &coordinationv1.Lease{})
	if err != nil {
		t.Fatalf("the general decoder refuses a body that was accepted: %v", err)
	}
	sent.GetObjectKind().SetGroupVersionKind(leaseKind)
	want := essence(t, answer)
	checked := 0
	for _, encoding := range d.encodings {
		var body bytes.Buffer
		if encoding.serializer.Encode(sent, &body) != nil {
			continue // YAML cannot hold every character
		}
		if same, err := decodeAnswer(encoding.serializer, body.Bytes()); err != nil || !apiequality.Semantic.DeepEqual(same, sent) {
			continue // or holds it as another
		}
		checked++
		again := c
		again.body, again.header = body.String(), as(adminToken, "Content-Type", encoding.mediaType)
		d.refresh(t)
		got := d.send(again)
		if got.code != answer.code {
			t.Fatalf("as JSON it is answered %d, as %s %d: %s", answer.code, encoding.mediaType, got.code, got.body.Bytes())
		}
		if found := essence(t, got); found != want {
			t.Fatalf("as JSON it is stored as\n%s\nas %s\n%s", want, encoding.mediaType, found)
		}
	}
	if checked == 0 {
		t.Fatalf("no encoding can hold what was sent")
	}
}

// essence is an answered Lease without what differs from one request to the next.
func essence(t *testing.T, answer *recorded) string {
	objects, _, err := answer.read(false)
	require.NoError(t, err)
	lease := objects[0].(*coordinationv1.Lease)
	if lease.UID != heldUID && len(lease.UID) == len(heldUID) {
		lease.UID = ""
	}
	if lease.GenerateName != "" {
		lease.Name = ""
	}
	lease.CreationTimestamp.Reset()
	for i := range lease.ManagedFields {
		lease.ManagedFields[i].Time = nil
	}
	text, err := json.MarshalIndent(lease, "", " ")
	require.NoError(t, err)
	return string(text)
}

// FuzzYAMLBody sends creates and updates with YAML.
func FuzzYAMLBody(f *testing.F) {
	seedWrites(f, func(body string) []byte {
		text, err := yaml.JSONToYAML([]byte(body))
		if err != nil {
			return []byte(body)
		}
		return text
	})
	for _, body := range []string{
		"metadata: &m {name: new, labels: {a: *m}}\n", "metadata: {name: new}\n---\nmetadata: {name: held}\n", "? [a]\n: b\n", "- !!binary x\n",
		"metadata: {name: new}\nspec: {leaseDurationSeconds: 0x10, leaseTransitions: 1_0, holderIdentity: yes, renewTime: 2024-01-02T03:04:05.678901Z}\n",
		"a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nd: [*c,*c]\n", "metadata: {name: new, name: held}\n<<: {spec: {holderIdentity: x}}\n", "%YAML 9.9\n---\n\tx",
	} {
		for how := range 3 {
			f.Add(uint16(how), []byte(body))
		}
	}
	door := openFuzzed(f)
	f.Fuzz(func(t *testing.T, how uint16, body []byte) {
		door.execute(t, write(how, "application/yaml", body))
	})
}

// FuzzProtobufBody sends creates and updates with protobuf: as it comes, or with the envelope put around it.
func FuzzProtobufBody(f *testing.F) {
	seed := func(enveloped bool) {
		seedWrites(f, func(body string) []byte {
			lease := new(coordinationv1.Lease)
			if _, _, err := looseJSON.Decode([]byte(body), &leaseKind, lease); err != nil {
				return nil
			}
			data, err := lease.Marshal()
			require.NoError(f, err)
			if enveloped {
				return inEnvelope("Lease", data)
			}
			return append([]byte{0}, data...)
		})
	}
	seed(true)
	seed(false)
	door := openFuzzed(f)
	f.Fuzz(func(t *testing.T, how uint16, body []byte) {
		if len(body) > 0 && body[0] == 0 {
			body = inEnvelope("Lease", body[1:])
		}
		door.execute(t, write(how, "application/vnd.kubernetes.protobuf", body))
	})
}

// inEnvelope makes of a message what is sent in protobuf.
func inEnvelope(kind string, message []byte) []byte {
	unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: kind}, Raw: message}
	data, err := unknown.Marshal()
	if err != nil {
		panic(err)
	}
	return append([]byte("k8s\x00"), data...)
}
