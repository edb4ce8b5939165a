package media

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	cborserializer "k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"pgregory.net/rapid"
)

// asCBOR encodes with apimachinery's serializer alone.
func asCBOR(t require.TestingT, kind schema.GroupVersionKind, object runtime.Object) []byte {
	object.GetObjectKind().SetGroupVersionKind(kind)
	var out bytes.Buffer
	require.NoError(t, cborserializer.NewSerializer(scheme, scheme).Encode(object, &out))
	return out.Bytes()
}

// rendered draws a Lease and its JSON. All its text is UTF-8, as JSON makes it.
func rendered(t *rapid.T) (Rendered, *coordinationv1.Lease) {
	for {
		drawn := leases.Draw(t, "lease")
		text, err := Leases.EncodeJSON(drawn)
		lease := &coordinationv1.Lease{}
		if err != nil || json.Unmarshal(text.JSON(), lease) != nil {
			continue // managed fields that are none, or a time of a year that has five digits
		}
		// What JSON holds as null is read as nothing at all.
		lease.DeletionTimestamp, lease.Spec.AcquireTime, lease.Spec.RenewTime = drawn.DeletionTimestamp, drawn.Spec.AcquireTime, drawn.Spec.RenewTime
		for i := range lease.ManagedFields {
			lease.ManagedFields[i].Time, lease.ManagedFields[i].FieldsV1 = drawn.ManagedFields[i].Time, drawn.ManagedFields[i].FieldsV1
		}
		if _, err := direct.Marshal(lease); err == nil {
			return text, lease
		}
	}
}

func TestCBORIsWhatTheGenericSerializerWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, lease := rendered(t)
		got, err := Accepted{Codec: Leases, Encoding: CBOR}.Convert(text.JSON())
		require.NoError(t, err)
		assert.Equal(t, asCBOR(t, Leases.GroupVersionKind, lease), got)

		as := Accepted{Codec: Leases, Encoding: CBOR, Shape: Partial, Version: "v1"}
		got, err = as.Convert(as.AppendPartial(nil, text))
		require.NoError(t, err)
		assert.Equal(t, asCBOR(t, metaV1.WithKind("PartialObjectMetadata"), &metav1.PartialObjectMetadata{ObjectMeta: lease.ObjectMeta}), got)
	})
}

func TestCBORListsAreWhatTheGenericSerializerWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := &coordinationv1.LeaseList{ListMeta: listMeta(t), Items: []coordinationv1.Lease{}}
		partial := &metav1.PartialObjectMetadataList{ListMeta: whole.ListMeta, Items: []metav1.PartialObjectMetadata{}}
		var items []Rendered
		for range rapid.IntRange(0, 30).Draw(t, "items") {
			text, lease := rendered(t)
			items = append(items, text)
			one := metav1.PartialObjectMetadata{ObjectMeta: lease.ObjectMeta}
			one.SetGroupVersionKind(metaV1.WithKind("PartialObjectMetadata"))
			lease.TypeMeta = metav1.TypeMeta{}
			whole.Items, partial.Items = append(whole.Items, *lease), append(partial.Items, one)
		}
		got, err := Accepted{Codec: Leases, Encoding: CBOR}.CBORList(&whole.ListMeta, items)
		require.NoError(t, err)
		assert.Equal(t, asCBOR(t, coordinationv1.SchemeGroupVersion.WithKind("LeaseList"), whole), got)

		got, err = Accepted{Codec: Leases, Encoding: CBOR, Shape: PartialList, Version: "v1"}.CBORList(&whole.ListMeta, items)
		require.NoError(t, err)
		assert.Equal(t, asCBOR(t, metaV1.WithKind("PartialObjectMetadataList"), partial), got)
	})
}

func TestCBORFramesAreWhatTheGenericSerializerWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, _ := rendered(t)
		as := Accepted{Codec: Leases, Encoding: CBOR}
		object, err := as.Convert(text.JSON())
		require.NoError(t, err)
		want, err := direct.Marshal(&metav1.WatchEvent{Type: EventModified, Object: runtime.RawExtension{Raw: object}})
		require.NoError(t, err)
		assert.Equal(t, append([]byte(selfDescribed), want...), as.AppendFrame(nil, EventModified, object))
	})
	assert.Equal(t, "application/cbor-seq", Accepted{Encoding: CBOR}.StreamType())
}

func TestBodiesInCBORAreReadLikeJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, _ := rendered(t)
		body, err := Accepted{Encoding: CBOR}.Convert(text.JSON())
		require.NoError(t, err)
		want, _, jsonErr := Leases.Decode(text.JSON(), JSON, Strict)
		got, warnings, err := Leases.Decode(body, CBOR, Strict)
		if jsonErr != nil { // an apiVersion or a time that JSON can hold and a Lease cannot
			assert.Error(t, err)
			return
		}
		require.NoError(t, err)
		assert.Empty(t, warnings)
		told, err := Leases.EncodeJSON(want)
		require.NoError(t, err)
		toldOfCBOR, err := Leases.EncodeJSON(got)
		require.NoError(t, err)
		assert.Equal(t, string(told.JSON()), string(toldOfCBOR.JSON()))
	})
}

func TestUnknownFieldsInCBOR(t *testing.T) {
	body, err := Accepted{Encoding: CBOR}.Convert([]byte(`{"metadata":{"name":"a"},"spec":{"colour":"red","holderIdentity":"x"}}`))
	require.NoError(t, err)
	o, warnings, err := Leases.Decode(body, CBOR, Warn)
	require.NoError(t, err)
	assert.Equal(t, []string{"cbor: found unknown field at map element index 0"}, warnings)
	assert.Equal(t, "x", *o.(*coordinationv1.Lease).Spec.HolderIdentity)
	_, warnings, err = Leases.Decode(body, CBOR, Ignore)
	require.NoError(t, err)
	assert.Empty(t, warnings)
	_, _, err = Leases.Decode(body, CBOR, Strict)
	var refused *BodyError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, `Lease in version "v1" cannot be handled as a Lease: strict decoding error: cbor: found unknown field at map element index 0`, refused.Message)
}

func TestWhatIsNoCBORBody(t *testing.T) {
	cbor := func(text string) []byte {
		body, err := Accepted{Encoding: CBOR}.Convert([]byte(text))
		require.NoError(t, err)
		return body
	}
	for _, body := range [][]byte{
		nil, []byte("not cbor"), []byte(`{"metadata":{}}`), cbor(`[]`), cbor(`{"kind":"Pod","apiVersion":"v1"}`), cbor(`{"spec":{"leaseDurationSeconds":"many"}}`),
		cbor(`{"spec":{"leaseDurationSeconds":2147483648}}`), cbor(`{"spec":{"renewTime":"2024-01-02T03:04:05Z"}}`), cbor(`{"spec":5}`),
		append([]byte{0xa2}, append(append(cbor(`"spec"`)[3:], 0xa0), append(cbor(`"spec"`)[3:], 0xa0)...)...), // the same key twice
		append(cbor(`{}`), 0xa0),                                                                        // two items
		[]byte("\xa1\x44spec\xc2\x41\x05"), []byte("\xa1\x44spec\xf7"), []byte("\xa1\x41a\xf9\x7e\x00"), // a bignum, undefined, not a number
	} {
		_, _, err := Leases.Decode(body, CBOR, Ignore)
		var refused *BodyError
		assert.ErrorAs(t, err, &refused, "%x", body)
	}
}

func TestDeleteOptionsInCBOR(t *testing.T) {
	body, err := Accepted{Encoding: CBOR}.Convert([]byte(`{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Orphan","unknown":1}`))
	require.NoError(t, err)
	options, err := DecodeDeleteOptions(body, CBOR)
	require.NoError(t, err)
	assert.Equal(t, metav1.DeletePropagationOrphan, *options.PropagationPolicy)
	_, err = DecodeDeleteOptions([]byte("not cbor"), CBOR)
	assert.Error(t, err)
}

func TestDepthAndItemsOfCBORAreBounded(t *testing.T) {
	nested := func(depth int) []byte {
		return []byte("\xa1\x41x" + strings.Repeat("\x81", depth-1) + "\x80") // {"x": [[[...]]]}
	}
	_, _, err := Leases.Decode(nested(9000), CBOR, Ignore)
	require.NoError(t, err)
	_, _, err = Leases.Decode(nested(2<<20), CBOR, Ignore)
	require.Error(t, err)
	_, _, err = Leases.Decode(nested(10001), CBOR, Ignore)
	require.ErrorContains(t, err, "exceeded max nested level 10000")

	wide := append([]byte("\xa1\x41x"), appendHead(nil, majorArray, maxCBORItems)...)
	wide = append(wide, bytes.Repeat([]byte{0xa0}, maxCBORItems)...)
	_, _, err = Leases.Decode(wide, CBOR, Ignore)
	require.ErrorContains(t, err, "exceeded max number of data items 262144")
	_, err = DecodeDeleteOptions(wide, CBOR)
	require.ErrorContains(t, err, "exceeded max number of data items 262144")
	require.ErrorContains(t, UnmarshalCBOR(wide, &map[string]any{}), "exceeded max number of data items 262144")
}

// FuzzDecodeCBOR looks for bodies that panic, or that are another object to those who are told of unknown fields.
func FuzzDecodeCBOR(f *testing.F) {
	for _, text := range bodies {
		body, err := Accepted{Encoding: CBOR}.Convert([]byte(text))
		require.NoError(f, err)
		f.Add(body)
	}
	for _, text := range strangeBodies {
		if body, err := (Accepted{Encoding: CBOR}).Convert([]byte(text)); err == nil {
			f.Add(body)
		}
	}
	f.Add([]byte("\xbf\x64spec\xbf\xff\xff"))
	f.Add([]byte("\xa1\x48metadata\xa1\x51creationTimestamp\xc0\x74\x32\x30\x30\x33-12-13T18:30:02Z"))
	f.Fuzz(func(t *testing.T, body []byte) {
		ignored, none, err := Leases.Decode(body, CBOR, Ignore)
		assert.Empty(t, none)
		warned, warnings, warnErr := Leases.Decode(body, CBOR, Warn)
		strict, _, strictErr := Leases.Decode(body, CBOR, Strict)
		assert.Equal(t, err == nil, warnErr == nil)
		assert.Equal(t, err == nil && len(warnings) == 0, strictErr == nil)
		if err != nil {
			return
		}
		assert.Equal(t, ignored, warned)
		if strictErr == nil {
			assert.Equal(t, ignored, strict)
		}
		if text, err := Leases.EncodeJSON(ignored); err == nil {
			_, err := Accepted{Encoding: CBOR}.Convert(text.JSON())
			assert.NoError(t, err)
		}
		_, _ = DecodeDeleteOptions(body, CBOR)
	})
}

func TestNegotiationOfCBOR(t *testing.T) {
	const meta = ";v=v1;g=meta.k8s.io"
	for accept, want := range map[string]Encoding{
		"application/cbor": CBOR, "application/cbor,application/json": CBOR, "application/json,application/cbor": JSON, "*/*": JSON,
		"application/cbor;q=0.5,application/yaml": YAML, "application/cbor;as=PartialObjectMetadata" + meta: CBOR,
		"application/cbor;as=Table" + meta + ",application/json": JSON,
	} {
		got, err := WithCBOR.Negotiate(accept, OfferShapes)
		if assert.NoError(t, err, accept) {
			assert.Equal(t, want, got.Encoding, accept)
		}
	}
	for _, offer := range []Offer{OfferLists, OfferStream, OfferShapes} {
		_, err := WithCBOR.Negotiate("application/cbor-seq", offer)
		var refused *NotAcceptableError
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, offer == OfferShapes, refused.ByRoute)
	}
	encoding, err := WithCBOR.OfBody("application/cbor; x=y")
	require.NoError(t, err)
	assert.Equal(t, CBOR, encoding)
	_, err = WithCBOR.OfBody("application/cbor-seq")
	assert.Error(t, err)
}

// What a client prefers is chosen first, and then asked whether it can be streamed.
func TestYAMLIsNoStreamEvenBeforeOthers(t *testing.T) {
	for accept, streams := range map[string]string{
		"application/yaml": "", "application/yaml,application/json": "", "application/json,application/yaml": "application/json",
	} {
		got, err := Standard.Negotiate(accept, OfferStream)
		require.NoError(t, err, accept)
		if streams != "" {
			require.NoError(t, Standard.CheckStream(got))
			assert.Equal(t, streams, got.StreamType())
			continue
		}
		require.EqualError(t, Standard.CheckStream(got), "only the following media types are accepted: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch", accept)
		require.ErrorContains(t, WithCBOR.CheckStream(got), "application/vnd.kubernetes.protobuf;stream=watch, application/cbor-seq")
	}
	_, err := Standard.Negotiate("application/json;as=Chart;v=v1;g=meta.k8s.io", OfferStream)
	assert.EqualError(t, err, "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf")
}

func TestTheStreamParameterIsTakenEverywhere(t *testing.T) {
	for _, offer := range []Offer{OfferWhole, OfferShapes, OfferLists, OfferStream} {
		got, err := Standard.Negotiate("application/json;stream=watch", offer)
		require.NoError(t, err)
		assert.Equal(t, JSON, got.Encoding)
		_, err = Standard.Negotiate("application/json;stream=other", offer)
		assert.Error(t, err)
	}
}
