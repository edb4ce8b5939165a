package httpapi

import (
	"bytes"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"sigs.k8s.io/yaml"
)

var cborAnswer = cbor.NewSerializer(answerable, answerable, cbor.Strict(true))

// FuzzCBOR sends CBOR to a door whose gate for it is open: creates and updates, applied configurations, options of a
// deletion; and has the answers in CBOR too.
func FuzzCBOR(f *testing.F) {
	encode := func(body string) []byte {
		var object map[string]any
		if yaml.Unmarshal([]byte(body), &object) != nil || object == nil {
			return nil
		}
		var encoded bytes.Buffer
		require.NoError(f, cborAnswer.Encode(&unstructured.Unstructured{Object: object}, &encoded))
		return encoded.Bytes()
	}
	const writing, applying, deleting = 0, 1, 2 // of three
	for i, body := range leaseBodies {
		if encoded := encode(body); encoded != nil {
			for what := range writes {
				f.Add(uint16(writing+3*(what+len(writes)*(i%3))), encoded)
			}
		}
	}
	const head = `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"held"`
	for _, body := range []string{head + `,"labels":{"x":"y"}},"spec":{"holderIdentity":"x"}}`, head + `},"spec":{"leaseDurationSeconds":1.5,"unknown":[{}]}}`, head + `,"managedFields":[]}}`} {
		f.Add(uint16(applying), encode(body))
		f.Add(uint16(applying+3*1), encode(body))
	}
	for _, body := range []string{`{"kind":"DeleteOptions","apiVersion":"v1","dryRun":["All"]}`, `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"x"}}`, `{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":1}`} {
		f.Add(uint16(deleting), encode(body))
	}
	for _, body := range []string{
		"", "\xd9\xd9\xf7", "\xd9\xd9\xf7\xa0", "\xa1\x61a", "\xbf\xff", "\x9f", "\xa2\x41a\x01\x41a\x02", "\xa1\x48metadata\xa1\x44name\x43new", "\xa1\x68metadata\xa1\x64name\xc2\x41\x01",
		"\xdb\xff\xff\xff\xff\xff\xff\xff\xff\xa0", "\xbb\xff\xff\xff\xff\xff\xff\xff\xff", "\x5b\x7f\xff\xff\xff\xff\xff\xff\xff", "\xa1\x44spec\xa1\x54leaseDurationSeconds\xfb\x7f\xf0\x00\x00\x00\x00\x00\x00", "\xa1\xf6\xf7",
		"\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81", "\xa1\x68metadata\xa1\x64name\x62\xc3\x28",
	} {
		f.Add(uint16(writing), []byte(body))
		f.Add(uint16(applying), []byte(body))
	}
	door := openFuzzed(f, func(c *Config) { c.CBOR = true })
	door.encodings = append(door.encodings[:len(door.encodings):len(door.encodings)], answerEncoding{"application/cbor", cborAnswer, false})
	f.Fuzz(func(t *testing.T, how uint16, body []byte) {
		c := write(how/3, "application/cbor", body)
		switch how % 3 {
		case applying:
			c.method, c.target = http.MethodPatch, fuzzLeases+"/"+patched[int(how/3)%len(patched)]+"?fieldManager=m&force=true"
			c.header.Set("Content-Type", "application/apply-patch+cbor")
		case deleting:
			c.method, c.target = http.MethodDelete, heldPath
		}
		if how/3%2 == 0 {
			c.header.Set("Accept", "application/cbor")
		}
		before := door.stockRevision()
		answer := door.execute(t, c)
		var options metav1.DeleteOptions
		if c.method == http.MethodDelete && answer.code < 300 && len(body) > 0 {
			if _, _, err := cborAnswer.Decode(body, &deleteOptionsKind, &options); err == nil && len(options.DryRun) > 0 && door.node.State().Revision() != before {
				t.Fatalf("a dry run wrote something")
			}
		}
	})
}
