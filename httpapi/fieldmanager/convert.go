package fieldmanager

import (
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	version   = coordinationv1.SchemeGroupVersion
	leaseKind = version.WithKind("Lease")
)

// leaseVersion is version as entries write it.
const leaseVersion = "coordination.k8s.io/v1"

// converter is what the library wants of a scheme, for the one kind and the one version there is. Unlike a scheme it
// does not write the kind into the objects it is given: they are shared.
type converter struct{}

// ConvertToVersion gives a copy that shares everything below its top level with a Lease, or a Lease made of a merged map.
// Other versions are not known; the library drops entries that name them.
func (converter) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	if target != version {
		return nil, runtime.NewNotRegisteredErrForTarget("leasehold", nil, target)
	}
	out := &coordinationv1.Lease{}
	switch in := in.(type) {
	case *coordinationv1.Lease:
		*out = *in
	case *unstructured.Unstructured:
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(in.Object, out); err != nil {
			return nil, fmt.Errorf("unable to convert unstructured object to %v: %w", leaseKind, err)
		}
	default:
		return nil, fmt.Errorf("convert %T: not a Lease", in)
	}
	out.SetGroupVersionKind(leaseKind)
	return out, nil
}

func (converter) Convert(in, _, _ any) error {
	return fmt.Errorf("convert %T: not supported", in)
}

func (converter) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

// Default does nothing: Leases have no defaults.
func (converter) Default(runtime.Object) {}

// New gives the empty object that managers of an untracked one start from.
func (converter) New(schema.GroupVersionKind) (runtime.Object, error) {
	return &coordinationv1.Lease{}, nil
}
