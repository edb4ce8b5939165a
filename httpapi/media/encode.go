package media

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasehold/leasehold/httpapi/object"
)

const tail = "}\n" // of an object as JSON

// Rendered is one object as JSON, exactly as the generic serializer writes it, with its closing newline. It is made once for
// a version and shared by all who are shown it, so nobody may change its bytes.
type Rendered struct {
	codec *Codec
	whole []byte // the codec's head, the metadata, the spec, the tail
	spec  int    // where `,"spec":` begins
}

// JSON returns the object with kind and apiVersion and a closing newline.
func (r Rendered) JSON() []byte { return r.whole }

// As returns the object in another version of its kind, which are alike but for their heads.
func (r Rendered) As(c *Codec) Rendered {
	if r.codec == c {
		return r
	}
	body := r.whole[len(r.codec.head):]
	return Rendered{codec: c, whole: append([]byte(c.head), body...), spec: r.spec - len(r.codec.head) + len(c.head)}
}

// Item returns the object as an element of a list has it: without kind and apiVersion. It is in two parts.
func (r Rendered) Item() (head string, tail []byte) {
	return `{"metadata":`, r.whole[len(r.codec.head) : len(r.whole)-1]
}

// Metadata returns the metadata alone.
func (r Rendered) Metadata() []byte { return r.whole[len(r.codec.head):r.spec] }

// EncodeJSON renders an object as JSON. Only managed fields that are not JSON make it fail.
func (c *Codec) EncodeJSON(o object.Object) (Rendered, error) {
	scratch := scratches.Get().(*transcoder)
	defer scratches.Put(scratch)
	buffer := append(scratch.buffer[:0], c.head...)
	buffer, err := appendMeta(buffer, object.Meta(o))
	if err != nil {
		return Rendered{}, fmt.Errorf("encode %s/%s: %w", o.GetNamespace(), o.GetName(), err)
	}
	spec := len(buffer)
	buffer = append(buffer, `,"spec":`...)
	buffer = c.appendSpec(buffer, o)
	buffer = append(buffer, tail...)
	scratch.buffer = buffer
	return Rendered{codec: c, whole: bytes.Clone(buffer), spec: spec}, nil
}

// scratches are where renderings are written before it is known how large they are.
var scratches = sync.Pool{New: func() any {
	return &transcoder{writer: writer{buffer: make([]byte, 0, 4096)}}
}}

// writer writes the fields of a JSON object, with commas where they belong.
type writer struct {
	buffer []byte
	any    bool
}

func (w *writer) name(name string) {
	if w.any {
		w.buffer = append(w.buffer, ',')
	}
	w.any = true
	w.buffer = append(w.buffer, '"')
	w.buffer = append(w.buffer, name...)
	w.buffer = append(w.buffer, '"', ':')
}

// text writes a string that is left out when it is empty.
func (w *writer) text(name, value string) {
	if value != "" {
		w.name(name)
		w.buffer = appendString(w.buffer, value)
	}
}

func (w *writer) texts(name string, values map[string]string) {
	if len(values) > 0 {
		w.name(name)
		w.buffer = appendMap(w.buffer, values)
	}
}

// present writes a string that is there even when it is empty.
func (w *writer) present(name string, value *string) {
	if value != nil {
		w.name(name)
		w.buffer = appendString(w.buffer, *value)
	}
}

func (w *writer) number(name string, value *int32) {
	if value != nil {
		w.name(name)
		w.buffer = strconv.AppendInt(w.buffer, int64(*value), 10)
	}
}

func (w *writer) moment(name string, value *metav1.MicroTime) {
	if value != nil {
		w.name(name)
		w.buffer = appendMicroTime(w.buffer, *value)
	}
}

func appendMeta(dst []byte, meta *metav1.ObjectMeta) ([]byte, error) {
	w := writer{buffer: append(dst, '{')}
	w.text("name", meta.Name)
	w.text("generateName", meta.GenerateName)
	w.text("namespace", meta.Namespace)
	w.text("selfLink", meta.SelfLink)
	w.text("uid", string(meta.UID))
	w.text("resourceVersion", meta.ResourceVersion)
	if meta.Generation != 0 {
		w.name("generation")
		w.buffer = strconv.AppendInt(w.buffer, meta.Generation, 10)
	}
	if !meta.CreationTimestamp.IsZero() {
		w.name("creationTimestamp")
		w.buffer = appendTime(w.buffer, meta.CreationTimestamp)
	}
	if meta.DeletionTimestamp != nil {
		w.name("deletionTimestamp")
		w.buffer = appendTime(w.buffer, *meta.DeletionTimestamp)
	}
	if meta.DeletionGracePeriodSeconds != nil {
		w.name("deletionGracePeriodSeconds")
		w.buffer = strconv.AppendInt(w.buffer, *meta.DeletionGracePeriodSeconds, 10)
	}
	w.texts("labels", meta.Labels)
	w.texts("annotations", meta.Annotations)
	if len(meta.OwnerReferences) > 0 {
		w.name("ownerReferences")
		w.buffer = appendOwners(w.buffer, meta.OwnerReferences)
	}
	if len(meta.Finalizers) > 0 {
		w.name("finalizers")
		w.buffer = append(w.buffer, '[')
		for i, finalizer := range meta.Finalizers {
			if i > 0 {
				w.buffer = append(w.buffer, ',')
			}
			w.buffer = appendString(w.buffer, finalizer)
		}
		w.buffer = append(w.buffer, ']')
	}
	if len(meta.ManagedFields) > 0 {
		w.name("managedFields")
		w.buffer = append(w.buffer, '[')
		for i := range meta.ManagedFields {
			if i > 0 {
				w.buffer = append(w.buffer, ',')
			}
			var err error
			if w.buffer, err = appendManaged(w.buffer, &meta.ManagedFields[i]); err != nil {
				return nil, err
			}
		}
		w.buffer = append(w.buffer, ']')
	}
	return append(w.buffer, '}'), nil
}

func appendOwners(dst []byte, owners []metav1.OwnerReference) []byte {
	dst = append(dst, '[')
	for i := range owners {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(append(dst, `{"apiVersion":`...), owners[i].APIVersion)
		dst = appendString(append(dst, `,"kind":`...), owners[i].Kind)
		dst = appendString(append(dst, `,"name":`...), owners[i].Name)
		dst = appendString(append(dst, `,"uid":`...), string(owners[i].UID))
		if owners[i].Controller != nil {
			dst = strconv.AppendBool(append(dst, `,"controller":`...), *owners[i].Controller)
		}
		if owners[i].BlockOwnerDeletion != nil {
			dst = strconv.AppendBool(append(dst, `,"blockOwnerDeletion":`...), *owners[i].BlockOwnerDeletion)
		}
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

func appendManaged(dst []byte, entry *metav1.ManagedFieldsEntry) ([]byte, error) {
	w := writer{buffer: append(dst, '{')}
	w.text("manager", entry.Manager)
	w.text("operation", string(entry.Operation))
	w.text("apiVersion", entry.APIVersion)
	if entry.Time != nil {
		w.name("time")
		w.buffer = appendTime(w.buffer, *entry.Time)
	}
	w.text("fieldsType", entry.FieldsType)
	if entry.FieldsV1 != nil {
		w.name("fieldsV1")
		raw := entry.FieldsV1.GetRawBytes()
		if end := scanFields(raw, 0, false); end == len(raw) {
			w.buffer = append(w.buffer, raw...)
		} else {
			// Not what a server writes itself; the generic encoder knows how it is escaped, or that it is broken.
			told, err := json.Marshal(entry.FieldsV1)
			if err != nil {
				return nil, fmt.Errorf("managed fields of %q: %w", entry.Manager, err)
			}
			w.buffer = append(w.buffer, told...)
		}
	}
	w.text("subresource", entry.Subresource)
	return append(w.buffer, '}'), nil
}
