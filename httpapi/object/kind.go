package object

import (
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kind is a kind of objects in one version.
type Kind struct {
	schema.GroupVersionKind

	// New makes an empty object. All versions of a kind have one type here; they differ in nothing but their name.
	New func() Object

	// MicroTimes are the fields of the spec that are metav1.MicroTime.
	MicroTimes []string

	// LenientTimes lets clients write them with none to nine digits of a second (JavaScript sends three, Rust nine, Python
	// none on whole seconds). kube-apiserver takes six digits and nothing else.
	LenientTimes bool

	// Versions are all in which objects of this kind can be had, this one included.
	Versions []string

	// Former are versions that are not served any more but still understood, in a patch at least.
	Former []string
}

// As is a copy of an object of this type that calls itself by this kind, and shares everything else with it.
func (k *Kind) As(o Object) Object {
	out := k.New()
	reflect.ValueOf(out).Elem().Set(reflect.ValueOf(o).Elem())
	out.GetObjectKind().SetGroupVersionKind(k.GroupVersionKind)
	return out
}

// In is the same kind in another of its versions; ok is false if there is none of that name.
func (k *Kind) In(version schema.GroupVersion) (other Kind, ok bool) {
	other = *k
	other.GroupVersionKind = version.WithKind(k.Kind)
	return other, version.Group == k.Group && slices.Contains(k.Versions, version.Version)
}
