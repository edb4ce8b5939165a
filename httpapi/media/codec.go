package media

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasehold/leasehold/httpapi/object"
)

// Codec is how the objects of one kind and version are written and read. All that differs from one kind to another is below
// spec, and which columns of it a Table shows.
type Codec struct {
	object.Kind

	// columns are what a Table shows: the name first, the age last. cells are an object's, without these two.
	columns []metav1.TableColumnDefinition
	cells   func(o object.Object) []string

	// appendSpec writes an object's spec as JSON.
	appendSpec func(dst []byte, o object.Object) []byte
	// scanSpec reads JSON into an object's spec.
	scanSpec func(s *scanner, o object.Object)
	// transcodeSpec writes a stored spec as JSON.
	transcodeSpec func(t *transcoder, spec []byte)

	apiVersion string
	head       string // what the JSON of an object begins with
}

// WithLenientTimes is a codec that takes times of a spec with none to nine digits of a second.
func (c *Codec) WithLenientTimes() *Codec {
	lenient := *c
	lenient.LenientTimes = true
	return &lenient
}

// newCodec completes a codec.
func newCodec(c Codec) *Codec {
	c.columns = slices.Concat(nameColumn, c.columns, ageColumn)
	c.apiVersion = c.GroupVersion().String()
	c.head = `{"kind":"` + c.Kind.Kind + `","apiVersion":"` + c.apiVersion + `","metadata":`
	return &c
}
