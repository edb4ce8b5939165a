package media

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"pgregory.net/rapid"

	"github.com/leasehold/leasehold/httpapi/object"
)

// decodeLease decodes a body that must be a Lease if there is no error.
func decodeLease(body []byte, encoding Encoding, validation Validation) (*coordinationv1.Lease, []string, error) {
	o, warnings, err := Leases.Decode(body, encoding, validation)
	if err != nil {
		return nil, warnings, err
	}
	return o.(*coordinationv1.Lease), warnings, nil
}

// sameAnswer fails if the scanner answered something else than the generic decoder, which must then be free of warnings.
func sameAnswer(t assert.TestingT, codec *Codec, body []byte) (scanned bool) {
	fast := codec.scan(body)
	if fast == nil {
		return false
	}
	generic, _, err := codec.decode(body, JSON, Strict)
	if assert.NoError(t, err, "%q", body) {
		assert.Equal(t, generic, fast, "%q", body)
	}
	return true
}

func TestOrdinaryBodiesAreScanned(t *testing.T) {
	for name, body := range bodies {
		assert.True(t, sameAnswer(t, Leases, []byte(body)), name)
	}
}

func TestStrangeBodiesAreDecodedAsEver(t *testing.T) {
	for _, body := range strangeBodies {
		sameAnswer(t, Leases, []byte(body))
	}
}

func TestScannerNeverDiffersFromTheGenericDecoder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sameAnswer(t, Leases, []byte(mutated(t)))
	})
}

// mutated draws a body: one that clients send or the rendering of some Lease, damaged.
func mutated(t *rapid.T) string {
	var body string
	if rapid.Bool().Draw(t, "known") {
		body = bodies[rapid.SampledFrom([]string{"client-go renewal", "client-go create", "python", "bare", "spaces", "candidate lock"}).Draw(t, "body")]
	} else {
		encoded, err := json.Marshal(leases.Draw(t, "lease"))
		if err != nil {
			return ""
		}
		body = string(encoded)
	}
	return damaged(t, body)
}

// damaged lays a body out in some way and then damages it a little.
func damaged(t *rapid.T, body string) string {
	if rapid.Bool().Draw(t, "indent") {
		var indented bytes.Buffer
		if json.Indent(&indented, []byte(body), "", "\t") == nil {
			body = indented.String()
		}
	}
	for range rapid.IntRange(0, 3).Draw(t, "damages") {
		if body == "" {
			break
		}
		at := rapid.IntRange(0, len(body)-1).Draw(t, "at")
		length := rapid.IntRange(0, min(8, len(body)-at)).Draw(t, "length")
		insert := rapid.SampledFrom([]string{"", " ", ",", "}", "{", "]", "[", "null", "\"", "0", "9", "-", "\\", `,"name":"x"`, `,"spec":{}`, "Z", "é", "\x01", "1e3", `{"f:x":{}}`}).Draw(t, "insert")
		body = body[:at] + insert + body[at+length:]
	}
	return body
}

func FuzzScanLease(f *testing.F) {
	for _, body := range bodies {
		f.Add([]byte(body))
	}
	for _, body := range strangeBodies {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) { sameAnswer(t, Leases, body) })
}

// generic renders with apimachinery's serializer alone.
func generic(codec *Codec, o object.Object) ([]byte, error) {
	whole := codec.As(o)
	var out bytes.Buffer
	err := jsonserializer.NewSerializerWithOptions(jsonserializer.DefaultMetaFactory, scheme, scheme, jsonserializer.SerializerOptions{}).Encode(whole, &out)
	return out.Bytes(), err
}

func TestEncoderWritesWhatTheGenericOneWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, c := range []struct {
			codec *Codec
			o     object.Object
		}{{Leases, leases.Draw(t, "lease")}, {beta, candidates.Draw(t, "candidate")}} {
			encodesAsEver(t, c.codec, c.o)
		}
	})
}

func encodesAsEver(t *rapid.T, codec *Codec, o object.Object) {
	want, genericErr := generic(codec, o)
	got, err := codec.EncodeJSON(o)
	if genericErr != nil {
		assert.Error(t, err)
		return
	}
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got.JSON()))

	meta, err := json.Marshal(object.Meta(o))
	require.NoError(t, err)
	assert.Equal(t, string(meta), string(got.Metadata()))
	head, tail := got.Item()
	item, err := json.Marshal(o)
	require.NoError(t, err)
	assert.Equal(t, string(item), head+string(tail))
}

func TestWhatIsEncodedCanBeScanned(t *testing.T) {
	lease := heartbeat(7)
	encoded, err := Leases.EncodeJSON(lease)
	require.NoError(t, err)
	assert.Equal(t, lease, Leases.scan(encoded.JSON()))
}

func TestUnknownAndDoubleFields(t *testing.T) {
	body := []byte(`{"metadata":{"name":"a","nickname":"b"},"spec":{"colour":"red","leaseDurationSeconds":3,"leaseDurationSeconds":4}}`)

	lease, warnings, err := decodeLease(body, JSON, Warn)
	require.NoError(t, err)
	assert.Equal(t, []string{`unknown field "metadata.nickname"`, `unknown field "spec.colour"`, `duplicate field "spec.leaseDurationSeconds"`}, warnings)
	assert.EqualValues(t, 4, *lease.Spec.LeaseDurationSeconds)

	lease, warnings, err = decodeLease(body, JSON, Ignore)
	require.NoError(t, err)
	assert.Empty(t, warnings)
	assert.EqualValues(t, 4, *lease.Spec.LeaseDurationSeconds)

	_, _, err = decodeLease(body, JSON, Strict)
	var bad *BodyError
	require.ErrorAs(t, err, &bad)
	assert.Contains(t, bad.Message, `Lease in version "v1" cannot be handled as a Lease: strict decoding error: unknown field "metadata.nickname"`)
}

func TestBodiesInYAMLAndProtobuf(t *testing.T) {
	lease, _, err := decodeLease([]byte("metadata:\n  name: a\nspec:\n  leaseDurationSeconds: 3\n"), YAML, Strict)
	require.NoError(t, err)
	assert.Equal(t, "a", lease.Name)
	assert.EqualValues(t, 3, *lease.Spec.LeaseDurationSeconds)

	_, _, err = decodeLease([]byte("not protobuf at all"), Protobuf, Warn)
	var bad *BodyError
	assert.ErrorAs(t, err, &bad)
	_, _, err = decodeLease([]byte("k8s\x00"), Protobuf, Warn)
	assert.ErrorAs(t, err, &bad)
}

func TestBodiesOfAnotherKind(t *testing.T) {
	for _, body := range []string{`{"apiVersion":"v1","kind":"Namespace"}`, `{"apiVersion":"coordination.k8s.io/v9","kind":"Lease"}`, `{"apiVersion":"coordination.k8s.io/v1","kind":"LeaseList","items":[]}`,
		`{"apiVersion":"a/b/c","kind":"Lease"}`, `[1,2]`, `"lease"`, ``, `{"kind":`} {
		_, _, err := decodeLease([]byte(body), JSON, Warn)
		var bad *BodyError
		assert.ErrorAs(t, err, &bad, body)
	}
	lease, _, err := decodeLease([]byte("null"), JSON, Warn)
	require.NoError(t, err)
	assert.Equal(t, &coordinationv1.Lease{}, lease)
}

func BenchmarkScanHeartbeat(b *testing.B) {
	body := []byte(bodies["client-go renewal"])
	b.ReportAllocs()
	measureCPU(b)
	for b.Loop() {
		if Leases.scan(body) == nil {
			b.Fatal("not scanned")
		}
	}
}

func BenchmarkDecodeHeartbeatGenerically(b *testing.B) {
	body := []byte(bodies["client-go renewal"])
	b.ReportAllocs()
	measureCPU(b)
	for b.Loop() {
		if _, _, err := Leases.decode(body, JSON, Warn); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeHeartbeat(b *testing.B) {
	lease := heartbeat(1)
	b.ReportAllocs()
	measureCPU(b)
	for b.Loop() {
		if _, err := Leases.EncodeJSON(lease); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRenderHeartbeat(b *testing.B) {
	data, err := heartbeat(1).Marshal()
	require.NoError(b, err)
	b.ReportAllocs()
	measureCPU(b)
	for b.Loop() {
		if _, err := (Stored{Codec: Leases, Data: data, Version: 123456}).Render(); err != nil {
			b.Fatal(err)
		}
	}
}

func TestNegotiation(t *testing.T) {
	json, yaml, protobuf := Accepted{Encoding: JSON}, Accepted{Encoding: YAML}, Accepted{Encoding: Protobuf}
	table := Accepted{Encoding: JSON, Shape: Table, Version: "v1"}
	const meta = ";v=v1;g=meta.k8s.io"
	for accept, want := range map[string]Accepted{
		"": json, "*/*": json, "application/json": json, "application/json, */*": json,
		"application/yaml,application/json":                                         yaml,
		"application/json;q=0.1,application/yaml":                                   yaml,
		"application/json;q=0":                                                      json,
		"text/html,application/yaml":                                                yaml,
		"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8":           json,
		"application/json; charset=utf-8":                                           json,
		"application/json;profile=x":                                                json,
		"application/cbor,application/json;q=0.9":                                   json,
		"application/vnd.kubernetes.protobuf,application/json":                      protobuf,
		"application/json;as=Table" + meta + ",application/json":                    table,
		"application/json;as=Chart" + meta + ",application/json":                    json,
		"application/json;as=Table;g=meta.k8s.io;v=v1beta1":                         {Encoding: JSON, Shape: Table, Version: "v1beta1"},
		"application/yaml;as=Table" + meta:                                          {Encoding: YAML, Shape: Table, Version: "v1"},
		"application/vnd.kubernetes.protobuf;as=PartialObjectMetadata" + meta:       {Encoding: Protobuf, Shape: Partial, Version: "v1"},
		"application/json;as=PartialObjectMetadataList" + meta:                      {Encoding: JSON, Shape: PartialList, Version: "v1"},
		"application/json;pretty=1":                                                 {Encoding: JSON, Pretty: true},
		"application/vnd.kubernetes.protobuf;as=Table" + meta + ",application/json": json,
	} {
		got, err := Standard.Negotiate(accept, OfferShapes)
		if assert.NoError(t, err, accept) {
			assert.Equal(t, want, got, accept)
		}
	}
}

func TestWhatCannotBeAccepted(t *testing.T) {
	const meta = ";v=v1;g=meta.k8s.io"
	for accept, byRoute := range map[string]bool{
		"application/*": true, "text/*": true, "APPLICATION/JSON": true, "application/cbor": true, "application/cbor-seq": true, "application/x-yaml": true, "///": true,
		"application/vnd.kubernetes.protobuf;as=Table" + meta: false,
		"application/json;as=Chart" + meta:                    false,
		"application/json;as=Table":                           false,
	} {
		_, err := Standard.Negotiate(accept, OfferShapes)
		var refused *NotAcceptableError
		if assert.ErrorAs(t, err, &refused, accept) {
			assert.Equal(t, byRoute, refused.ByRoute, accept)
		}
	}
	_, err := Standard.Negotiate("application/json;as=Table"+meta, OfferWhole)
	assert.Error(t, err)
}

func TestShortcutsOfNegotiationChangeNothing(t *testing.T) {
	for _, offer := range []Offer{OfferWhole, OfferShapes, OfferStream} {
		for _, accept := range []string{"", "application/json", "*/*", "application/json, */*", "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf,application/json"} {
			short, err := Standard.Negotiate(accept, offer)
			require.NoError(t, err)
			if accept == "" {
				accept = "*/*"
			}
			long, err := Standard.negotiate(accept, offer)
			require.NoError(t, err)
			assert.Equal(t, long, short, accept)
		}
	}
}

func TestStreamParameter(t *testing.T) {
	got, err := Standard.Negotiate("application/vnd.kubernetes.protobuf;stream=watch", OfferStream)
	require.NoError(t, err)
	assert.Equal(t, "application/vnd.kubernetes.protobuf;stream=watch", got.StreamType())
	assert.Equal(t, "application/json", Accepted{}.StreamType())
}

func TestContentTypes(t *testing.T) {
	for contentType, want := range map[string]Encoding{"": JSON, "application/json; charset=utf-8": JSON, "Application/JSON": JSON, "application/yaml": YAML, "application/vnd.kubernetes.protobuf": Protobuf} {
		got, err := Standard.OfBody(contentType)
		require.NoError(t, err, contentType)
		assert.Equal(t, want, got, contentType)
	}
	for _, contentType := range []string{"text/plain", "///", "application/cbor", "application/merge-patch+json", "application/x-www-form-urlencoded"} {
		_, err := Standard.OfBody(contentType)
		var unsupported *UnsupportedTypeError
		assert.ErrorAs(t, err, &unsupported, contentType)
	}
	assert.True(t, strings.HasSuffix((&UnsupportedTypeError{Supported: []string{"a", "b"}}).Error(), ": a, b"))
}
