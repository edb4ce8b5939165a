package candidate

import (
	"github.com/blang/semver/v4"
	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	"k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/leasehold/leasehold/httpapi/lease"
	"github.com/leasehold/leasehold/httpapi/object"
)

var specPath = field.NewPath("spec")

// ValidateCreate tells what is wrong with a LeaseCandidate that is yet to be created, in the order of kube-apiserver:
// metadata, then the spec.
func ValidateCreate(next *coordinationv1beta1.LeaseCandidate) field.ErrorList {
	return append(object.Validate(&next.ObjectMeta, validateName), validateSpec(&next.Spec)...)
}

// ValidateUpdate tells what is wrong with next as the successor of current, which stands for the same Lease for ever.
func ValidateUpdate(next, current *coordinationv1beta1.LeaseCandidate) field.ErrorList {
	errs := append(object.ValidateUpdate(&next.ObjectMeta, &current.ObjectMeta), validateSpec(&next.Spec)...)
	return append(errs, validation.ValidateImmutableField(next.Spec.LeaseName, current.Spec.LeaseName, specPath.Child("leaseName"))...)
}

// validateName is more generous than the rule for Leases: capitals, underscores, and leading dots and dashes will do.
// The leaseName is of any form whatever.
func validateName(name string, _ bool) []string { return utilvalidation.IsConfigMapKey(name) }

func validateSpec(spec *coordinationv1beta1.LeaseCandidateSpec) field.ErrorList {
	var errs field.ErrorList
	if spec.LeaseName == "" {
		errs = append(errs, field.Required(specPath.Child("leaseName"), ""))
	}
	emulation, wrong := version(specPath.Child("emulationVersion"), spec.EmulationVersion)
	errs = append(errs, wrong...)
	binaryPath := specPath.Child("binaryVersion")
	if spec.BinaryVersion == "" {
		errs = append(errs, field.Required(binaryPath, ""))
	}
	binary, wrong := version(binaryPath, spec.BinaryVersion)
	errs = append(errs, wrong...)
	if spec.BinaryVersion != "" && spec.EmulationVersion != "" && binary.LT(emulation) {
		errs = append(errs, field.Invalid(binaryPath, spec.BinaryVersion, "must be greater than or equal to `emulationVersion`"))
	}
	if spec.Strategy == "" {
		return append(errs, field.Required(specPath.Child("strategy"), ""))
	}
	if spec.Strategy == coordinationv1.OldestEmulationVersion && emulation.EQ(semver.Version{}) {
		errs = append(errs, field.Required(specPath.Child("emulationVersion"), "must be specified when `strategy` is 'OldestEmulationVersion'"))
	}
	return append(errs, lease.ValidateStrategy(spec.Strategy)...)
}

// version reads a semantic version; of none and of a wrong one it is 0.0.0, which kube-apiserver takes for none.
func version(path *field.Path, text string) (semver.Version, field.ErrorList) {
	if text == "" {
		return semver.Version{}, nil
	}
	parsed, err := semver.Parse(text)
	if err != nil {
		return semver.Version{}, field.ErrorList{field.Invalid(path, text, "must be a valid semantic version")}
	}
	return parsed, nil
}
