package object

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Object is one object of a kind that is served: a pointer to one of the types of k8s.io/api.
type Object interface {
	runtime.Object
	metav1.Object
	metav1.ObjectMetaAccessor

	// Marshal and Unmarshal are the protobuf form, in which objects are stored.
	Marshal() ([]byte, error)
	Unmarshal(data []byte) error
}

// Meta is the metadata of an object, to be read and to be changed.
func Meta(o Object) *metav1.ObjectMeta { return o.GetObjectMeta().(*metav1.ObjectMeta) }

// Type is what an object calls itself. That is told at the door and not kept, so it is mostly empty.
func Type(o Object) *metav1.TypeMeta { return o.GetObjectKind().(*metav1.TypeMeta) }

// Copy is a deep copy.
func Copy(o Object) Object { return o.DeepCopyObject().(Object) }
