package media

import (
	"encoding/json"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/leasehold/leasehold/httpapi/object"
)

// Row is one line of a Table.
type Row struct {
	Name    string
	Cells   []string  // between name and age
	Created time.Time // zero is shown as <unknown>
	Object  Rendered
}

// Row returns the line that shows an object, which is rendered as given.
func (c *Codec) Row(o object.Object, rendered Rendered) Row {
	return Row{Name: o.GetName(), Cells: c.cells(o), Created: o.GetCreationTimestamp().Time, Object: rendered}
}

// Include says what each row of a Table holds beside its cells.
type Include uint8

// The values of the query's includeObject.
const (
	IncludeMetadata Include = iota // PartialObjectMetadata, the default
	IncludeNone
	IncludeObject
)

// ParseInclude reads the query's includeObject. The error is a *BodyError.
func ParseInclude(value string) (Include, error) {
	switch metav1.IncludeObjectPolicy(value) {
	case "", metav1.IncludeMetadata:
		return IncludeMetadata, nil
	case metav1.IncludeNone:
		return IncludeNone, nil
	case metav1.IncludeObject:
		return IncludeObject, nil
	}
	return 0, &BodyError{Message: `Unable to convert to Table as requested: includeObject: Invalid value: "` + value +
		`": must be 'Metadata', 'Object', 'None', or empty`}
}

// The columns that every kind has.
var (
	nameColumn = []metav1.TableColumnDefinition{{Name: "Name", Type: "string", Format: "name", Description: metav1.ObjectMeta{}.SwaggerDoc()["name"]}}
	ageColumn  = []metav1.TableColumnDefinition{{Name: "Age", Type: "string", Description: metav1.ObjectMeta{}.SwaggerDoc()["creationTimestamp"]}}
)

// AppendTable writes a Table as JSON. A stream tells the columns in its first Table only, the others have null. now is what
// ages are counted to.
func (a Accepted) AppendTable(dst []byte, meta *metav1.ListMeta, rows []Row, include Include, withColumns bool, now time.Time) ([]byte, error) {
	apiVersion, kind := a.names(false)
	size := 2048
	for i := range rows {
		size += 128 + len(rows[i].Object.whole)
	}
	dst, err := appendListHead(slices.Grow(dst, size), apiVersion, kind, meta)
	if err != nil {
		return nil, err
	}
	dst = append(dst, `,"columnDefinitions":`...)
	if withColumns {
		told, err := json.Marshal(a.Codec.columns)
		if err != nil {
			return nil, err
		}
		dst = append(dst, told...)
	} else {
		dst = append(dst, "null"...)
	}
	dst = append(dst, `,"rows":[`...)
	for i, row := range rows {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(append(dst, `{"cells":[`...), row.Name)
		for _, cell := range row.Cells {
			dst = appendString(append(dst, ','), cell)
		}
		dst = appendString(append(dst, ','), age(row.Created, now))
		dst = append(dst, `],"object":`...)
		switch include {
		case IncludeNone:
			dst = append(dst, "null"...)
		case IncludeObject:
			dst = append(dst, row.Object.whole[:len(row.Object.whole)-1]...)
		case IncludeMetadata:
			dst = a.appendPartial(dst, row.Object)
		}
		dst = append(dst, '}')
	}
	return append(dst, "]}\n"...), nil
}

func age(created, now time.Time) string {
	if created.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(now.Sub(created))
}
