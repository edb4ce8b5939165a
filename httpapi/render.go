package httpapi

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/leasehold/leasehold/fsm"
	"github.com/leasehold/leasehold/httpapi/media"
	"github.com/leasehold/leasehold/httpapi/object"
	"github.com/leasehold/leasehold/httpapi/wallclock"
)

// apiObject is what can be rendered beside stored versions.
type apiObject = runtime.Object

// render makes the bytes of an answer's object or value; kind is what the request is about.
func (s *server) render(kind *kind, f form, answer *response) (contentType string, body []byte, err error) {
	if answer.object != nil {
		body, err = s.renderStored(kind, f, answer.object)
		return f.ContentType(), body, err
	}
	value, isObject := answer.value.(object.Object)
	if status, ok := answer.value.(*metav1.Status); ok {
		f = f.unshaped()
		status.APIVersion, status.Kind = "v1", "Status"
		body, err = f.Encode(status)
	} else if isObject && kind != nil {
		body, err = renderUnstored(kind, f, value)
	} else {
		body, err = f.EncodeShaped(answer.value, answer.columns, f.include)
	}
	return f.ContentType(), body, err
}

// renderStored renders a stored version.
func (s *server) renderStored(kind *kind, f form, version *fsm.Object) ([]byte, error) {
	if err := f.Check(false); err != nil {
		return nil, err
	}
	if f.Encoding == media.Protobuf {
		return f.AppendProtobuf(nil, kind.stored(version))
	}
	rendered, err := s.renderings.of(kind, version)
	if err != nil {
		return nil, err
	}
	switch f.Shape {
	case media.Partial:
		return f.Convert(f.AppendPartial(nil, rendered))
	case media.Table:
		row, err := s.row(kind, version)
		if err != nil {
			return nil, err
		}
		return f.table(metav1.ListMeta{ResourceVersion: strconv.FormatUint(version.Revision, 10)}, []media.Row{row})
	}
	return f.Convert(rendered.JSON())
}

// row is a stored version as a line of a Table.
func (s *server) row(kind *kind, version *fsm.Object) (media.Row, error) {
	rendered, err := s.renderings.of(kind, version)
	if err != nil {
		return media.Row{}, err
	}
	decoded, err := kind.open(version)
	if err != nil {
		return media.Row{}, err
	}
	return kind.Row(decoded, rendered), nil
}

func (f form) table(meta metav1.ListMeta, rows []media.Row) ([]byte, error) {
	text, err := f.AppendTable(nil, &meta, rows, f.include, true, wallclock.Now())
	if err != nil {
		return nil, err
	}
	return f.Convert(text)
}

// renderList renders stored versions as a list.
func (s *server) renderList(kind *kind, f form, objects []*fsm.Object, meta metav1.ListMeta) ([]byte, error) {
	if err := f.Check(true); err != nil {
		return nil, err
	}
	meta = f.listMeta(meta)
	if f.Encoding == media.Protobuf {
		items := make([]media.Stored, len(objects))
		for i, object := range objects {
			items[i] = kind.stored(object)
		}
		return f.ProtobufList(&meta, items)
	}
	if f.Shape == media.Table {
		rows := make([]media.Row, len(objects))
		for i, object := range objects {
			row, err := s.row(kind, object)
			if err != nil {
				return nil, err
			}
			rows[i] = row
		}
		return f.table(meta, rows)
	}
	items := make([]media.Rendered, len(objects))
	for i, object := range objects {
		item, err := s.renderings.of(kind, object)
		if err != nil {
			return nil, err
		}
		items[i] = item
	}
	if f.Encoding == media.CBOR {
		return f.CBORList(&meta, items)
	}
	text, err := f.AppendList(s.lists.take(), &meta, items)
	if err != nil {
		return nil, err
	}
	return f.Convert(text)
}

// renderUnstored renders an object that is not stored.
func renderUnstored(kind *kind, f form, value object.Object) ([]byte, error) {
	if err := f.Check(false); err != nil {
		return nil, err
	}
	if f.Encoding == media.Protobuf {
		if f.Shape == media.Partial {
			return f.Encode(f.partial(value))
		}
		return f.Encode(kind.As(value))
	}
	rendered, err := kind.EncodeJSON(value)
	if err != nil {
		return nil, err
	}
	switch f.Shape {
	case media.Partial:
		return f.Convert(f.AppendPartial(nil, rendered))
	case media.Table:
		return f.table(metav1.ListMeta{ResourceVersion: value.GetResourceVersion()}, []media.Row{kind.Row(value, rendered)})
	}
	return f.Convert(rendered.JSON())
}

// listMeta is what a list in this form tells of itself: of its shard only if it is a list of whole objects.
func (f form) listMeta(meta metav1.ListMeta) metav1.ListMeta {
	if f.Shape != media.Whole {
		meta.ShardInfo = nil
	}
	return meta
}

func (f form) partial(value object.Object) *metav1.PartialObjectMetadata {
	partial := &metav1.PartialObjectMetadata{ObjectMeta: *object.Meta(value)}
	partial.APIVersion, partial.Kind = "meta.k8s.io/"+f.Version, "PartialObjectMetadata"
	return partial
}
