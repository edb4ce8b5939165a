package media

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	leaseHead = `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":`
	leaseTail = "}\n"
)

// Lease is one Lease as JSON, exactly as the generic serializer writes it, with its closing newline. It is made once for
// a version and shared by all who are shown it, so nobody may change its bytes.
type Lease struct {
	whole []byte
	spec  int // where `,"spec":` begins
}

// JSON returns the object with kind and apiVersion and a closing newline.
func (l Lease) JSON() []byte { return l.whole }

// Item returns the object as an element of a list has it: without kind and apiVersion. It is in two parts.
func (l Lease) Item() (head string, tail []byte) {
	return `{"metadata":`, l.whole[len(leaseHead) : len(l.whole)-1]
}

// Metadata returns the metadata alone.
func (l Lease) Metadata() []byte { return l.whole[len(leaseHead):l.spec] }

// EncodeLease renders a Lease as JSON. Only managed fields that are not JSON make it fail.
func EncodeLease(lease *coordinationv1.Lease) (Lease, error) {
	scratch := scratches.Get().(*[]byte)
	defer scratches.Put(scratch)
	buffer := append((*scratch)[:0], leaseHead...)
	buffer, err := appendMeta(buffer, &lease.ObjectMeta)
	if err != nil {
		return Lease{}, fmt.Errorf("encode lease %s/%s: %w", lease.Namespace, lease.Name, err)
	}
	spec := len(buffer)
	buffer = append(buffer, `,"spec":`...)
	buffer = appendSpec(buffer, &lease.Spec)
	buffer = append(buffer, leaseTail...)
	*scratch = buffer
	return Lease{whole: bytes.Clone(buffer), spec: spec}, nil
}

// scratches are where renderings are written before it is known how large they are.
var scratches = sync.Pool{New: func() any {
	scratch := make([]byte, 0, 4096)
	return &scratch
}}

// object writes the fields of a JSON object, with commas where they belong.
type object struct {
	buffer []byte
	any    bool
}

func (o *object) name(name string) {
	if o.any {
		o.buffer = append(o.buffer, ',')
	}
	o.any = true
	o.buffer = append(o.buffer, '"')
	o.buffer = append(o.buffer, name...)
	o.buffer = append(o.buffer, '"', ':')
}

// text writes a string that is left out when it is empty.
func (o *object) text(name, value string) {
	if value != "" {
		o.name(name)
		o.buffer = appendString(o.buffer, value)
	}
}

func (o *object) texts(name string, values map[string]string) {
	if len(values) > 0 {
		o.name(name)
		o.buffer = appendMap(o.buffer, values)
	}
}

func appendMeta(dst []byte, meta *metav1.ObjectMeta) ([]byte, error) {
	o := object{buffer: append(dst, '{')}
	o.text("name", meta.Name)
	o.text("generateName", meta.GenerateName)
	o.text("namespace", meta.Namespace)
	o.text("selfLink", meta.SelfLink)
	o.text("uid", string(meta.UID))
	o.text("resourceVersion", meta.ResourceVersion)
	if meta.Generation != 0 {
		o.name("generation")
		o.buffer = strconv.AppendInt(o.buffer, meta.Generation, 10)
	}
	if !meta.CreationTimestamp.IsZero() {
		o.name("creationTimestamp")
		o.buffer = appendTime(o.buffer, meta.CreationTimestamp)
	}
	if meta.DeletionTimestamp != nil {
		o.name("deletionTimestamp")
		o.buffer = appendTime(o.buffer, *meta.DeletionTimestamp)
	}
	if meta.DeletionGracePeriodSeconds != nil {
		o.name("deletionGracePeriodSeconds")
		o.buffer = strconv.AppendInt(o.buffer, *meta.DeletionGracePeriodSeconds, 10)
	}
	o.texts("labels", meta.Labels)
	o.texts("annotations", meta.Annotations)
	if len(meta.OwnerReferences) > 0 {
		o.name("ownerReferences")
		o.buffer = appendOwners(o.buffer, meta.OwnerReferences)
	}
	if len(meta.Finalizers) > 0 {
		o.name("finalizers")
		o.buffer = append(o.buffer, '[')
		for i, finalizer := range meta.Finalizers {
			if i > 0 {
				o.buffer = append(o.buffer, ',')
			}
			o.buffer = appendString(o.buffer, finalizer)
		}
		o.buffer = append(o.buffer, ']')
	}
	if len(meta.ManagedFields) > 0 {
		o.name("managedFields")
		o.buffer = append(o.buffer, '[')
		for i := range meta.ManagedFields {
			if i > 0 {
				o.buffer = append(o.buffer, ',')
			}
			var err error
			if o.buffer, err = appendManaged(o.buffer, &meta.ManagedFields[i]); err != nil {
				return nil, err
			}
		}
		o.buffer = append(o.buffer, ']')
	}
	return append(o.buffer, '}'), nil
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
	o := object{buffer: append(dst, '{')}
	o.text("manager", entry.Manager)
	o.text("operation", string(entry.Operation))
	o.text("apiVersion", entry.APIVersion)
	if entry.Time != nil {
		o.name("time")
		o.buffer = appendTime(o.buffer, *entry.Time)
	}
	o.text("fieldsType", entry.FieldsType)
	if entry.FieldsV1 != nil {
		o.name("fieldsV1")
		raw := entry.FieldsV1.GetRawBytes()
		if end := scanFields(raw, 0, false); end == len(raw) {
			o.buffer = append(o.buffer, raw...)
		} else {
			// Not what a server writes itself; the generic encoder knows how it is escaped, or that it is broken.
			told, err := json.Marshal(entry.FieldsV1)
			if err != nil {
				return nil, fmt.Errorf("managed fields of %q: %w", entry.Manager, err)
			}
			o.buffer = append(o.buffer, told...)
		}
	}
	o.text("subresource", entry.Subresource)
	return append(o.buffer, '}'), nil
}

func appendSpec(dst []byte, spec *coordinationv1.LeaseSpec) []byte {
	o := object{buffer: append(dst, '{')}
	present := func(name string, value *string) {
		if value != nil {
			o.name(name)
			o.buffer = appendString(o.buffer, *value)
		}
	}
	number := func(name string, value *int32) {
		if value != nil {
			o.name(name)
			o.buffer = strconv.AppendInt(o.buffer, int64(*value), 10)
		}
	}
	moment := func(name string, value *metav1.MicroTime) {
		if value != nil {
			o.name(name)
			o.buffer = appendMicroTime(o.buffer, *value)
		}
	}
	present("holderIdentity", spec.HolderIdentity)
	number("leaseDurationSeconds", spec.LeaseDurationSeconds)
	moment("acquireTime", spec.AcquireTime)
	moment("renewTime", spec.RenewTime)
	number("leaseTransitions", spec.LeaseTransitions)
	present("strategy", (*string)(spec.Strategy))
	present("preferredHolder", spec.PreferredHolder)
	return append(o.buffer, '}')
}
