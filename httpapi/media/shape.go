package media

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1beta1 "k8s.io/apimachinery/pkg/apis/meta/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Columns are what a Table shows of objects that are not stored.
type Columns struct {
	Definitions []metav1.TableColumnDefinition
	Cells       func(o runtime.Object) []any
}

// EncodeShaped renders an object that is not stored, or a list of such, in the shape and the encoding that were asked for,
// by way of apimachinery. The object carries its kind and apiVersion; columns may be nil where no Table was offered. The
// error is a *NotAcceptableError where a list was asked for as one object or the other way round.
func (a Accepted) EncodeShaped(o runtime.Object, columns *Columns, include Include) ([]byte, error) {
	var err error
	switch list := meta.IsListType(o); {
	case a.Shape == Table:
		o, err = a.tableOf(o, columns, include)
	case a.Shape == Partial && list:
		err = &NotAcceptableError{Message: fmt.Sprintf("you requested PartialObjectMetadata, but the requested object is a list (%s)", internal(o))}
	case a.Shape == PartialList && !list:
		err = &NotAcceptableError{Message: fmt.Sprintf("you requested PartialObjectMetadataList, but the requested object is not a list (%s)", internal(o))}
	case a.Shape == Partial:
		o, err = a.partialOf(o)
	case a.Shape == PartialList:
		o, err = a.partialsOf(o)
	}
	if err != nil {
		return nil, err
	}
	return a.Encode(o)
}

// internal is what kube-apiserver calls the type of an object.
func internal(o runtime.Object) string {
	kind := o.GetObjectKind().GroupVersionKind()
	group, _, _ := strings.Cut(kind.Group, ".")
	if group == "" {
		group = "core"
	}
	return "*" + group + "." + kind.Kind
}

func (a Accepted) partialOf(o runtime.Object) (*metav1.PartialObjectMetadata, error) {
	accessor, err := meta.Accessor(o)
	if err != nil {
		return nil, err
	}
	partial := meta.AsPartialObjectMetadata(accessor)
	partial.APIVersion, partial.Kind = "meta.k8s.io/"+a.Version, "PartialObjectMetadata"
	return partial, nil
}

func (a Accepted) partialsOf(list runtime.Object) (runtime.Object, error) {
	told, err := metaOf(list)
	if err != nil {
		return nil, err
	}
	told.ShardInfo = nil
	kind := metav1.TypeMeta{APIVersion: "meta.k8s.io/" + a.Version, Kind: "PartialObjectMetadataList"}
	items := []metav1.PartialObjectMetadata{}
	err = meta.EachListItem(list, func(item runtime.Object) error {
		partial, err := a.partialOf(item)
		if err == nil {
			items = append(items, *partial)
		}
		return err
	})
	if a.Version == "v1beta1" { // whose protobuf form has the items first
		return &metav1beta1.PartialObjectMetadataList{TypeMeta: kind, ListMeta: told, Items: items}, err
	}
	return &metav1.PartialObjectMetadataList{TypeMeta: kind, ListMeta: told, Items: items}, err
}

// metaOf is the metadata of a list; of one object what a list of it alone would have.
func metaOf(o runtime.Object) (metav1.ListMeta, error) {
	if list, ok := o.(metav1.ListMetaAccessor); ok {
		if told, ok := list.GetListMeta().(*metav1.ListMeta); ok {
			return *told, nil
		}
	}
	one, err := meta.CommonAccessor(o)
	if err != nil {
		return metav1.ListMeta{}, err
	}
	return metav1.ListMeta{ResourceVersion: one.GetResourceVersion()}, nil
}

func (a Accepted) tableOf(o runtime.Object, columns *Columns, include Include) (*metav1.Table, error) {
	told, err := metaOf(o)
	if err != nil {
		return nil, err
	}
	told.ShardInfo = nil
	table := &metav1.Table{
		TypeMeta:          metav1.TypeMeta{APIVersion: "meta.k8s.io/" + a.Version, Kind: "Table"},
		ListMeta:          told,
		ColumnDefinitions: columns.Definitions,
		Rows:              []metav1.TableRow{},
	}
	kind := o.GetObjectKind().GroupVersionKind()
	kind.Kind = strings.TrimSuffix(kind.Kind, "List") // items do not carry theirs
	row := func(o runtime.Object) error {
		partial, err := a.partialOf(o)
		if err != nil {
			return err
		}
		row := metav1.TableRow{Cells: columns.Cells(o)}
		switch include {
		case IncludeMetadata:
			row.Object.Object = partial
		case IncludeObject:
			o.GetObjectKind().SetGroupVersionKind(kind)
			row.Object.Object = o
		case IncludeNone:
		}
		table.Rows = append(table.Rows, row)
		return nil
	}
	if meta.IsListType(o) {
		return table, meta.EachListItem(o, row)
	}
	return table, row(o)
}
