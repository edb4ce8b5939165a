package patch

import (
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"github.com/leasehold/leasehold/httpapi/object"
)

// encode writes the object as a client would read it, since that is what the patch was made for.
func encode(kind object.Kind, current object.Object) ([]byte, error) {
	text, err := json.Marshal(kind.As(current))
	if err != nil {
		return nil, fmt.Errorf("encode %s/%s: %w", current.GetNamespace(), current.GetName(), err)
	}
	return text, nil
}

// decode reads the patched text: complaints are unknown and repeated fields, an error is what makes it no object of the
// kind. Field names match with case, whole numbers must be written as such. A missing kind or apiVersion is not missed,
// and any version will do in which the kind can be had.
func decode(kind object.Kind, text []byte) (next object.Object, complaints []error, err error) {
	next = kind.New()
	complaints, err = kjson.UnmarshalStrict(text, next)
	if err != nil {
		return nil, nil, err
	}
	if !known(kind, object.Type(next)) {
		return nil, nil, unknown(kind, object.Type(next))
	}
	return next, complaints, nil
}

func known(kind object.Kind, given *metav1.TypeMeta) bool {
	if given.Kind != "" && given.Kind != kind.Kind {
		return false
	}
	if given.APIVersion == "" {
		return true
	}
	version, err := schema.ParseGroupVersion(given.APIVersion)
	_, served := kind.In(version)
	return err == nil && (served || version.Group == kind.Group && slices.Contains(kind.Former, version.Version))
}

// unknown is a kind and apiVersion that the patch must not have set, in apimachinery's own words.
func unknown(kind object.Kind, given *metav1.TypeMeta) error {
	patched := given.GroupVersionKind()
	if patched.Kind == "" {
		patched.Kind = kind.Kind
	}
	if given.APIVersion == "v1" { // which kube-apiserver knows, and fails to convert
		return fmt.Errorf("converting (v1.%s) to (coordination.%s): unknown conversion", patched.Kind, kind.Kind)
	}
	_, err := runtime.NewScheme().New(patched)
	return err
}
