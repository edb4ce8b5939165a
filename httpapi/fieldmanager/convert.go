package fieldmanager

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/leasehold/leasehold/httpapi/object"
)

// converter is what the library wants of a scheme, for one kind, all of whose versions are the same type. Unlike a scheme
// it does not write the kind into the objects it is given: they are shared.
type converter struct {
	kind object.Kind
}

// ConvertToVersion gives a copy that shares everything below its top level with an object, or an object made of a merged
// map. Versions that the kind does not have are not known; the library drops entries that name them.
func (c converter) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	version, _ := target.(schema.GroupVersion)
	kind, ok := c.kind.In(version)
	if !ok {
		return nil, runtime.NewNotRegisteredErrForTarget("leasehold", nil, target)
	}
	switch in := in.(type) {
	case object.Object:
		return kind.As(in), nil
	case *unstructured.Unstructured:
		out := kind.New()
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(in.Object, out); err != nil {
			return nil, fmt.Errorf("unable to convert unstructured object to %v: %w", kind.GroupVersionKind, err)
		}
		return kind.As(out), nil
	}
	return nil, fmt.Errorf("convert %T: not a %s", in, kind.Kind)
}

func (converter) Convert(in, _, _ any) error {
	return fmt.Errorf("convert %T: not supported", in)
}

func (converter) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

// Default does nothing: no kind that is served has defaults.
func (converter) Default(runtime.Object) {}

// New gives the empty object that managers of an untracked one start from.
func (c converter) New(schema.GroupVersionKind) (runtime.Object, error) {
	return c.kind.New(), nil
}
