package media

import (
	"bytes"
	"compress/gzip"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1beta1 "k8s.io/apimachinery/pkg/apis/meta/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	protobufserializer "k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/framer"
	"pgregory.net/rapid"
)

// stored draws a Lease as the store has it, with the Lease as it is to be shown.
func stored(t *rapid.T) (Stored, *coordinationv1.Lease) {
	lease := leases.Draw(t, "lease")
	lease.ResourceVersion = ""
	data, err := lease.Marshal()
	require.NoError(t, err)
	version := rapid.Uint64().Draw(t, "version")
	shown := lease.DeepCopy()
	shown.ResourceVersion = strconv.FormatUint(version, 10)
	return Stored{Codec: Leases, Data: data, Version: version}, shown
}

// envelope is what the generic serializer makes of an object.
func envelope(t require.TestingT, kind schema.GroupVersionKind, object runtime.Object) []byte {
	object.GetObjectKind().SetGroupVersionKind(kind)
	var out bytes.Buffer
	require.NoError(t, protobufserializer.NewSerializer(scheme, scheme).Encode(object, &out))
	return out.Bytes()
}

var (
	metaV1      = schema.GroupVersion{Group: "meta.k8s.io", Version: "v1"}
	metaV1beta1 = schema.GroupVersion{Group: "meta.k8s.io", Version: "v1beta1"}
)

func TestProtobufIsWhatTheGenericSerializerWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from, shown := stored(t)
		got, err := Accepted{Codec: Leases, Encoding: Protobuf}.AppendProtobuf(nil, from)
		require.NoError(t, err)
		assert.Equal(t, envelope(t, Leases.GroupVersionKind, shown), got)

		partial, err := Accepted{Codec: Leases, Encoding: Protobuf, Shape: Partial, Version: "v1"}.AppendProtobuf(nil, from)
		require.NoError(t, err)
		assert.Equal(t, envelope(t, metaV1.WithKind("PartialObjectMetadata"), &metav1.PartialObjectMetadata{ObjectMeta: shown.ObjectMeta}), partial)

		decoded, err := from.Decode()
		require.NoError(t, err)
		assert.Equal(t, shown.ResourceVersion, decoded.GetResourceVersion())
	})
}

func TestProtobufThatWasWrittenOtherwiseIsWrittenAnew(t *testing.T) {
	// The fields of the metadata in descending order, without a version.
	name := appendField(appendField(nil, 3<<3|2, "ns"), 1<<3|2, "a")
	data := appendField(nil, tagMetadata, string(name))
	got, err := Accepted{Codec: Leases, Encoding: Protobuf}.AppendProtobuf(nil, Stored{Codec: Leases, Data: data, Version: 7})
	require.NoError(t, err)
	want := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "ns", ResourceVersion: "7"}}
	assert.Equal(t, envelope(t, Leases.GroupVersionKind, want), got)

	_, err = Accepted{Codec: Leases, Encoding: Protobuf}.AppendProtobuf(nil, Stored{Codec: Leases, Data: []byte("garbage"), Version: 7})
	assert.Error(t, err)
}

func TestProtobufListsAreWhatTheGenericSerializerWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var from []Stored
		whole := &coordinationv1.LeaseList{ListMeta: listMeta(t)}
		partial := &metav1.PartialObjectMetadataList{ListMeta: whole.ListMeta}
		for range rapid.IntRange(0, 4).Draw(t, "items") {
			s, shown := stored(t)
			from = append(from, s)
			whole.Items = append(whole.Items, *shown)
			partial.Items = append(partial.Items, metav1.PartialObjectMetadata{ObjectMeta: shown.ObjectMeta})
		}
		got, err := Accepted{Codec: Leases, Encoding: Protobuf}.ProtobufList(&whole.ListMeta, from)
		require.NoError(t, err)
		assert.Equal(t, envelope(t, coordinationv1.SchemeGroupVersion.WithKind("LeaseList"), whole), got)

		got, err = Accepted{Codec: Leases, Encoding: Protobuf, Shape: PartialList, Version: "v1"}.ProtobufList(&whole.ListMeta, from)
		require.NoError(t, err)
		assert.Equal(t, envelope(t, metaV1.WithKind("PartialObjectMetadataList"), partial), got)

		old := &metav1beta1.PartialObjectMetadataList{ListMeta: whole.ListMeta, Items: partial.Items}
		got, err = Accepted{Codec: Leases, Encoding: Protobuf, Shape: PartialList, Version: "v1beta1"}.ProtobufList(&whole.ListMeta, from)
		require.NoError(t, err)
		assert.Equal(t, envelope(t, metaV1beta1.WithKind("PartialObjectMetadataList"), old), got)
	})
}

func TestTranscodingEqualsDecodingAndEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from, shown := stored(t)
		want, err := Leases.EncodeJSON(shown)
		got, renderErr := from.Render()
		assert.Equal(t, err == nil, renderErr == nil)
		assert.Equal(t, string(want.whole), string(got.whole))
		assert.Equal(t, want.spec, got.spec)
	})
	data, err := heartbeat(1).Marshal()
	require.NoError(t, err)
	_, ok := Stored{Codec: Leases, Data: data, Version: 1}.transcode()
	assert.True(t, ok, "a heartbeat is ordinary")
}

// Bytes that no Marshal wrote are transcoded to what decoding and encoding make of them, or not at all.
func FuzzTranscode(f *testing.F) {
	for _, body := range bodies {
		lease := Leases.scan([]byte(body))
		lease.SetResourceVersion("")
		data, err := lease.Marshal()
		require.NoError(f, err)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		from := Stored{Codec: Leases, Data: data, Version: 123456}
		got, ok := from.transcode()
		if !ok {
			return
		}
		lease, err := from.Decode()
		require.NoError(t, err)
		want, err := Leases.EncodeJSON(lease)
		require.NoError(t, err)
		assert.Equal(t, string(want.whole), string(got.whole))
		assert.Equal(t, want.spec, got.spec)
	})
}

func TestLabelsAreFoundWhereTheyLie(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from, shown := stored(t)
		found := from.Labels()
		for name, value := range shown.Labels {
			got, ok := found.Lookup(name)
			assert.True(t, ok, name)
			assert.Equal(t, value, got)
			assert.True(t, found.Has(name))
			assert.Equal(t, value, found.Get(name))
		}
		other := rapid.String().Draw(t, "other")
		_, has := shown.Labels[other]
		assert.Equal(t, has, found.Has(other))
	})
	assert.False(t, Stored{Codec: Leases, Data: []byte("garbage")}.Labels().Has("a"))
	assert.False(t, Stored{}.Labels().Has("a"))
}

func listMeta(t *rapid.T) metav1.ListMeta {
	meta := metav1.ListMeta{ResourceVersion: "12"}
	if rapid.Bool().Draw(t, "more") {
		meta.Continue, meta.RemainingItemCount = rapid.StringMatching(`[a-zA-Z0-9]{1,300}`).Draw(t, "continue"), pointer(rapid.Int64().Draw(t, "remaining"))
	}
	return meta
}

func TestJSONListsAreWhatTheGenericSerializerWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var items []Rendered
		whole := &coordinationv1.LeaseList{ListMeta: listMeta(t), Items: []coordinationv1.Lease{}}
		partial := &metav1.PartialObjectMetadataList{ListMeta: whole.ListMeta, Items: []metav1.PartialObjectMetadata{}}
		for range rapid.IntRange(0, 4).Draw(t, "items") {
			lease := leases.Draw(t, "lease")
			item, err := Leases.EncodeJSON(lease)
			if err != nil {
				continue
			}
			items = append(items, item)
			whole.Items = append(whole.Items, *lease)
			one := metav1.PartialObjectMetadata{ObjectMeta: lease.ObjectMeta}
			one.SetGroupVersionKind(metaV1.WithKind("PartialObjectMetadata"))
			partial.Items = append(partial.Items, one)
		}
		whole.SetGroupVersionKind(coordinationv1.SchemeGroupVersion.WithKind("LeaseList"))
		partial.SetGroupVersionKind(metaV1.WithKind("PartialObjectMetadataList"))
		for _, c := range []struct {
			accepted Accepted
			list     runtime.Object
		}{{Accepted{Codec: Leases}, whole}, {Accepted{Codec: Leases, Shape: PartialList, Version: "v1"}, partial}} {
			want, err := Accepted{}.Encode(c.list)
			require.NoError(t, err)
			got, err := c.accepted.AppendList(nil, &whole.ListMeta, items)
			require.NoError(t, err)
			assert.Equal(t, string(want), string(got))
		}
	})
}

func TestTablesAreWhatTheGenericSerializerWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(1e10, 0)
		var rows []Row
		table := &metav1.Table{ListMeta: listMeta(t), ColumnDefinitions: Leases.columns, Rows: []metav1.TableRow{}}
		table.SetGroupVersionKind(metaV1.WithKind("Table"))
		include := rapid.SampledFrom([]Include{IncludeMetadata, IncludeNone, IncludeObject}).Draw(t, "include")
		for range rapid.IntRange(0, 3).Draw(t, "rows") {
			lease := leases.Draw(t, "lease")
			object, err := Leases.EncodeJSON(lease)
			if err != nil {
				continue
			}
			row := Leases.Row(lease, object)
			rows = append(rows, row)
			want := metav1.TableRow{Cells: []any{row.Name, row.Cells[0], age(row.Created, now)}}
			switch include {
			case IncludeObject:
				whole := lease.DeepCopy()
				whole.SetGroupVersionKind(Leases.GroupVersionKind)
				want.Object.Object = whole
			case IncludeMetadata:
				one := &metav1.PartialObjectMetadata{ObjectMeta: lease.ObjectMeta}
				one.SetGroupVersionKind(metaV1.WithKind("PartialObjectMetadata"))
				want.Object.Object = one
			}
			table.Rows = append(table.Rows, want)
		}
		withColumns := rapid.Bool().Draw(t, "columns")
		if !withColumns {
			table.ColumnDefinitions = nil
		}
		want, err := Accepted{}.Encode(table)
		require.NoError(t, err)
		got, err := Accepted{Codec: Leases, Shape: Table, Version: "v1"}.AppendTable(nil, &table.ListMeta, rows, include, withColumns, now)
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got))
	})
}

func TestFramesAreReadByApimachinery(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from, shown := stored(t)
		object := envelope(t, Leases.GroupVersionKind, shown)
		want := metav1.WatchEvent{Type: EventModified, Object: runtime.RawExtension{Raw: object}}
		raw, err := want.Marshal()
		require.NoError(t, err)

		protobuf := Accepted{Codec: Leases, Encoding: Protobuf}
		frame, err := protobuf.AppendStoredFrame(nil, EventModified, from)
		require.NoError(t, err)
		assert.Equal(t, protobuf.AppendFrame(nil, EventModified, object), frame)
		assert.Equal(t, raw, protobuf.Message(frame))
		read := framer.NewLengthDelimitedFrameReader(io.NopCloser(bytes.NewReader(frame)))
		unframed := make([]byte, len(raw)+1)
		n, err := read.Read(unframed)
		require.NoError(t, err)
		assert.Equal(t, raw, unframed[:n])

		partial := Accepted{Codec: Leases, Encoding: Protobuf, Shape: Partial, Version: "v1"}
		one, err := partial.AppendProtobuf(nil, from)
		require.NoError(t, err)
		frame, err = partial.AppendStoredFrame(nil, EventDeleted, from)
		require.NoError(t, err)
		assert.Equal(t, partial.AppendFrame(nil, EventDeleted, one), frame)
	})
}

func TestJSONFrames(t *testing.T) {
	lease, err := Leases.EncodeJSON(heartbeat(1))
	require.NoError(t, err)
	whole := heartbeat(1)
	whole.SetGroupVersionKind(Leases.GroupVersionKind)
	want, err := Accepted{}.Encode(&frameObject{metav1.WatchEvent{Type: EventAdded, Object: runtime.RawExtension{Object: whole}}})
	require.NoError(t, err)
	assert.Equal(t, string(want), string(Accepted{Codec: Leases}.AppendFrame(nil, EventAdded, lease.JSON())))
}

// frameObject lets a WatchEvent pass for an object; it has no kind.
type frameObject struct {
	metav1.WatchEvent `json:",inline"`
}

func (*frameObject) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }
func (f *frameObject) DeepCopyObject() runtime.Object { return f }

func TestTextForms(t *testing.T) {
	lease, err := Leases.EncodeJSON(heartbeat(1))
	require.NoError(t, err)
	pretty, err := Accepted{Pretty: true}.Convert(lease.JSON())
	require.NoError(t, err)
	assert.Contains(t, string(pretty), "{\n  \"kind\": \"Lease\",")
	assert.NotEqual(t, byte('\n'), pretty[len(pretty)-1])
	yaml, err := Accepted{Codec: Leases, Encoding: YAML}.Convert(lease.JSON())
	require.NoError(t, err)
	decoded, _, err := Leases.Decode(yaml, YAML, Strict)
	require.NoError(t, err)
	assert.Equal(t, heartbeat(1), decoded)
}

func TestGzip(t *testing.T) {
	for header, want := range map[string]bool{"": false, "gzip": true, "deflate, gzip": true, "gzip;q=0.5": false, "gzip;q=0": false, "*": false, "br": false, "xgzip": false} {
		assert.Equal(t, want, TakesGzip(header), header)
	}
	for _, text := range []string{"", "some text", strings.Repeat("more text ", 50000)} {
		reader, err := gzip.NewReader(bytes.NewReader(Gzip([]byte(text))))
		require.NoError(t, err)
		unpacked, err := io.ReadAll(reader)
		require.NoError(t, err)
		assert.Equal(t, text, string(unpacked))
	}
}

func BenchmarkList2000(b *testing.B) {
	items, from := make([]Rendered, 2000), make([]Stored, 2000)
	for i := range items {
		lease := heartbeat(i)
		data, err := lease.Marshal()
		require.NoError(b, err)
		from[i] = Stored{Codec: Leases, Data: data, Version: uint64(i + 1000)}
		items[i], err = Leases.EncodeJSON(lease)
		require.NoError(b, err)
	}
	meta := &metav1.ListMeta{ResourceVersion: "3000"}
	b.Run("json, rendered before", func(b *testing.B) {
		measureCPU(b)
		for b.Loop() {
			list, err := Accepted{Codec: Leases}.AppendList(nil, meta, items)
			require.NoError(b, err)
			b.SetBytes(int64(len(list)))
		}
	})
	b.Run("json, from the store", func(b *testing.B) {
		measureCPU(b)
		for b.Loop() {
			fresh := make([]Rendered, len(from))
			for i := range from {
				var err error
				fresh[i], err = from[i].Render()
				require.NoError(b, err)
			}
			_, err := Accepted{Codec: Leases}.AppendList(nil, meta, fresh)
			require.NoError(b, err)
		}
	})
	b.Run("protobuf", func(b *testing.B) {
		measureCPU(b)
		for b.Loop() {
			list, err := Accepted{Codec: Leases, Encoding: Protobuf}.ProtobufList(meta, from)
			require.NoError(b, err)
			b.SetBytes(int64(len(list)))
		}
	})
	b.Run("gzip", func(b *testing.B) {
		measureCPU(b)
		list, err := Accepted{Codec: Leases}.AppendList(nil, meta, items)
		require.NoError(b, err)
		b.SetBytes(int64(len(list)))
		for b.Loop() {
			if len(Gzip(list)) == 0 {
				b.Fatal("nothing came out")
			}
		}
	})
}
