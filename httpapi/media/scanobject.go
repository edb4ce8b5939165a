package media

import (
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/leasehold/leasehold/httpapi/object"
)

// unknown is the number of a field that is not known: the scanner has then given up anyway.
const unknown = 63

// scan reads an object from JSON as client-go, the kubelet and the clients of other languages send it, or returns nil
// if there is anything uncommon about it: unknown or double fields, null, escapes, another kind, anything wrong. What it
// returns equals what the generic decoder would, strict or not; that one reads what this one declines.
func (c *Codec) scan(body []byte) object.Object {
	s := scanners.Get().(*scanner)
	defer s.rest()
	*s = scanner{text: string(body), ok: true}
	o := c.New()
	s.space()
	s.fields(func(name string) int {
		switch name {
		case "kind":
			if s.string() != c.Kind.Kind {
				s.fail()
			}
			return 0
		case "apiVersion":
			if s.string() != c.apiVersion {
				s.fail()
			}
			return 1
		case "metadata":
			s.meta(object.Meta(o))
			return 2
		case "spec":
			c.scanSpec(s, o)
			return 3
		}
		s.fail()
		return unknown
	})
	s.space()
	if !s.ok || s.at != len(s.text) {
		return nil
	}
	return o
}

// scanners are lent, since one that is handed to a kind's own function would be allocated each time.
var scanners = sync.Pool{New: func() any { return new(scanner) }}

// rest gives a scanner back, without its text.
func (s *scanner) rest() {
	*s = scanner{}
	scanners.Put(s)
}

func (s *scanner) meta(meta *metav1.ObjectMeta) {
	s.fields(func(name string) int {
		switch name {
		case "name":
			meta.Name = s.string()
			return 0
		case "generateName":
			meta.GenerateName = s.string()
			return 1
		case "namespace":
			meta.Namespace = s.string()
			return 2
		case "selfLink":
			meta.SelfLink = s.string()
			return 3
		case "uid":
			meta.UID = types.UID(s.string())
			return 4
		case "resourceVersion":
			meta.ResourceVersion = s.string()
			return 5
		case "generation":
			meta.Generation = s.integer(64)
			return 6
		case "creationTimestamp":
			meta.CreationTimestamp = s.timestamp()
			return 7
		case "deletionTimestamp":
			meta.DeletionTimestamp = &metav1.Time{Time: s.moment(0)}
			return 8
		case "deletionGracePeriodSeconds":
			meta.DeletionGracePeriodSeconds = pointer(s.integer(64))
			return 9
		case "labels":
			meta.Labels = s.strings()
			return 10
		case "annotations":
			meta.Annotations = s.strings()
			return 11
		case "ownerReferences":
			meta.OwnerReferences = []metav1.OwnerReference{}
			s.elements(func() { meta.OwnerReferences = append(meta.OwnerReferences, s.owner()) })
			return 12
		case "finalizers":
			meta.Finalizers = []string{}
			s.elements(func() { meta.Finalizers = append(meta.Finalizers, s.string()) })
			return 13
		case "managedFields":
			meta.ManagedFields = []metav1.ManagedFieldsEntry{}
			s.elements(func() { meta.ManagedFields = append(meta.ManagedFields, s.managed()) })
			return 14
		}
		s.fail()
		return unknown
	})
}

// timestamp is the one field that many clients send as null.
func (s *scanner) timestamp() metav1.Time {
	const null = "null"
	if len(s.text)-s.at >= len(null) && s.text[s.at:s.at+len(null)] == null {
		s.at += len(null)
		return metav1.Time{}
	}
	return metav1.Time{Time: s.moment(0)}
}

func (s *scanner) owner() (owner metav1.OwnerReference) {
	s.fields(func(name string) int {
		switch name {
		case "apiVersion":
			owner.APIVersion = s.string()
			return 0
		case "kind":
			owner.Kind = s.string()
			return 1
		case "name":
			owner.Name = s.string()
			return 2
		case "uid":
			owner.UID = types.UID(s.string())
			return 3
		case "controller":
			owner.Controller = pointer(s.bool())
			return 4
		case "blockOwnerDeletion":
			owner.BlockOwnerDeletion = pointer(s.bool())
			return 5
		}
		s.fail()
		return unknown
	})
	return owner
}

func (s *scanner) managed() (entry metav1.ManagedFieldsEntry) {
	s.fields(func(name string) int {
		switch name {
		case "manager":
			entry.Manager = s.string()
			return 0
		case "operation":
			entry.Operation = metav1.ManagedFieldsOperationType(s.string())
			return 1
		case "apiVersion":
			entry.APIVersion = s.string()
			return 2
		case "time":
			entry.Time = &metav1.Time{Time: s.moment(0)}
			return 3
		case "fieldsType":
			entry.FieldsType = s.string()
			return 4
		case "fieldsV1":
			entry.FieldsV1 = s.fieldSet()
			return 5
		case "subresource":
			entry.Subresource = s.string()
			return 6
		}
		s.fail()
		return unknown
	})
	return entry
}

func (s *scanner) fieldSet() *metav1.FieldsV1 {
	end := scanFields(s.text, s.at, true)
	if end < 0 {
		s.fail()
		return nil
	}
	set := metav1.NewFieldsV1(s.text[s.at:end])
	s.at = end
	return set
}

func pointer[T any](value T) *T { return &value }
