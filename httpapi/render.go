package httpapi

import (
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/leasehold/leasehold/fsm"
	"github.com/leasehold/leasehold/httpapi/media"
)

// apiObject is what can be rendered beside stored versions.
type apiObject = runtime.Object

// render makes the bytes of an answer's object or value.
func (s *server) render(f form, answer *response) (contentType string, body []byte, err error) {
	if answer.object != nil {
		body, err = s.renderObject(f, answer.object)
		return f.ContentType(), body, err
	}
	switch value := answer.value.(type) {
	case *coordinationv1.Lease:
		body, err = renderLease(f, value)
	case *coordinationv1.LeaseList:
		body, err = renderLeases(f, value)
	case *metav1.Status:
		f = f.plain()
		value.APIVersion, value.Kind = "v1", "Status"
		body, err = f.Encode(value)
	default:
		f = f.plain()
		body, err = f.Encode(value)
	}
	return f.ContentType(), body, err
}

// renderObject renders a stored version.
func (s *server) renderObject(f form, object *fsm.Object) ([]byte, error) {
	if err := f.Check(false); err != nil {
		return nil, err
	}
	if f.Encoding == media.Protobuf {
		return f.AppendProtobuf(nil, stored(object))
	}
	lease, err := s.renderings.of(object)
	if err != nil {
		return nil, err
	}
	switch f.Shape {
	case media.Partial:
		return f.Convert(f.AppendPartial(nil, lease))
	case media.Table:
		row, err := s.row(object)
		if err != nil {
			return nil, err
		}
		return f.table(metav1.ListMeta{ResourceVersion: version(object.Revision)}, []media.Row{row})
	}
	return f.Convert(lease.JSON())
}

// row is a stored version as a line of a Table.
func (s *server) row(object *fsm.Object) (media.Row, error) {
	lease, err := s.renderings.of(object)
	if err != nil {
		return media.Row{}, err
	}
	decoded, err := leaseOf(object)
	if err != nil {
		return media.Row{}, err
	}
	return media.RowOf(decoded, lease), nil
}

func (f form) table(meta metav1.ListMeta, rows []media.Row) ([]byte, error) {
	text, err := f.AppendTable(nil, &meta, rows, f.include, true, time.Now())
	if err != nil {
		return nil, err
	}
	return f.Convert(text)
}

// renderList renders stored versions as a list.
func (s *server) renderList(f form, objects []*fsm.Object, meta metav1.ListMeta) ([]byte, error) {
	if err := f.Check(true); err != nil {
		return nil, err
	}
	if f.Encoding == media.Protobuf {
		items := make([]media.Stored, len(objects))
		for i, object := range objects {
			items[i] = stored(object)
		}
		return f.ProtobufList(&meta, items)
	}
	if f.Shape == media.Table {
		rows := make([]media.Row, len(objects))
		for i, object := range objects {
			row, err := s.row(object)
			if err != nil {
				return nil, err
			}
			rows[i] = row
		}
		return f.table(meta, rows)
	}
	items := make([]media.Lease, len(objects))
	for i, object := range objects {
		item, err := s.renderings.of(object)
		if err != nil {
			return nil, err
		}
		items[i] = item
	}
	text, err := f.AppendList(s.lists.take(), &meta, items)
	if err != nil {
		return nil, err
	}
	return f.Convert(text)
}

// renderLease renders a Lease that is not stored.
func renderLease(f form, lease *coordinationv1.Lease) ([]byte, error) {
	if err := f.Check(false); err != nil {
		return nil, err
	}
	if f.Encoding == media.Protobuf {
		if f.Shape == media.Partial {
			return f.Encode(f.partial(lease))
		}
		lease.APIVersion, lease.Kind = "coordination.k8s.io/v1", "Lease"
		return f.Encode(lease)
	}
	rendered, err := media.EncodeLease(lease)
	if err != nil {
		return nil, err
	}
	switch f.Shape {
	case media.Partial:
		return f.Convert(f.AppendPartial(nil, rendered))
	case media.Table:
		return f.table(metav1.ListMeta{ResourceVersion: lease.ResourceVersion}, []media.Row{media.RowOf(lease, rendered)})
	}
	return f.Convert(rendered.JSON())
}

// renderLeases renders a list of Leases that are not stored any more.
func renderLeases(f form, list *coordinationv1.LeaseList) ([]byte, error) {
	if err := f.Check(true); err != nil {
		return nil, err
	}
	if f.Encoding == media.Protobuf {
		if f.Shape != media.PartialList {
			list.APIVersion, list.Kind = "coordination.k8s.io/v1", "LeaseList"
			return f.Encode(list)
		}
		partial := &metav1.PartialObjectMetadataList{ListMeta: list.ListMeta}
		partial.APIVersion, partial.Kind = "meta.k8s.io/"+f.Version, "PartialObjectMetadataList"
		for i := range list.Items {
			partial.Items = append(partial.Items, *f.partial(&list.Items[i]))
		}
		return f.Encode(partial)
	}
	items := make([]media.Lease, len(list.Items))
	rows := make([]media.Row, len(list.Items))
	for i := range list.Items {
		rendered, err := media.EncodeLease(&list.Items[i])
		if err != nil {
			return nil, fmt.Errorf("list: %w", err)
		}
		items[i], rows[i] = rendered, media.RowOf(&list.Items[i], rendered)
	}
	if f.Shape == media.Table {
		return f.table(list.ListMeta, rows)
	}
	text, err := f.AppendList(nil, &list.ListMeta, items)
	if err != nil {
		return nil, err
	}
	return f.Convert(text)
}

func (f form) partial(lease *coordinationv1.Lease) *metav1.PartialObjectMetadata {
	partial := &metav1.PartialObjectMetadata{ObjectMeta: lease.ObjectMeta}
	partial.APIVersion, partial.Kind = "meta.k8s.io/"+f.Version, "PartialObjectMetadata"
	return partial
}
