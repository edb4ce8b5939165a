package lease

import (
	"slices"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/leasehold/leasehold/httpapi/object"
)

var specPath = field.NewPath("spec")

// ValidateCreate tells what is wrong with a Lease that is yet to be created, in the order of kube-apiserver: metadata, then
// the spec.
func ValidateCreate(next *coordinationv1.Lease) field.ErrorList {
	return append(object.Validate(&next.ObjectMeta, validation.NameIsDNSSubdomain), validateSpec(&next.Spec)...)
}

// ValidateUpdate tells what is wrong with next as the successor of current.
func ValidateUpdate(next, current *coordinationv1.Lease) field.ErrorList {
	errs := object.ValidateUpdate(&next.ObjectMeta, &current.ObjectMeta)
	return append(errs, validateSpec(&next.Spec)...)
}

func validateSpec(spec *coordinationv1.LeaseSpec) field.ErrorList {
	var errs field.ErrorList
	if spec.LeaseDurationSeconds != nil && *spec.LeaseDurationSeconds <= 0 {
		errs = append(errs, field.Invalid(specPath.Child("leaseDurationSeconds"), *spec.LeaseDurationSeconds, "must be greater than 0"))
	}
	if spec.LeaseTransitions != nil && *spec.LeaseTransitions < 0 {
		errs = append(errs, field.Invalid(specPath.Child("leaseTransitions"), *spec.LeaseTransitions, "must be greater than or equal to 0"))
	}
	if spec.Strategy != nil {
		errs = append(errs, ValidateStrategy(*spec.Strategy)...)
	}
	wantsHolder := spec.PreferredHolder != nil && *spec.PreferredHolder != ""
	if wantsHolder && (spec.Strategy == nil || *spec.Strategy == "") {
		errs = append(errs, field.Forbidden(specPath.Child("preferredHolder"), "may only be specified if `strategy` is defined"))
	}
	return errs
}

// ValidateStrategy tells what is wrong with a strategy, of a Lease or of one of its candidates. Its errors are for
// spec.strategy.strategy, a path that does not exist: so are those of kube-apiserver. A word without a slash is Kubernetes'
// own, and there is one; with a slash it is somebody's qualified name.
func ValidateStrategy(strategy coordinationv1.CoordinatedLeaseStrategy) field.ErrorList {
	path := specPath.Child("strategy").Child("strategy")
	if !strings.Contains(string(strategy), "/") {
		known := []coordinationv1.CoordinatedLeaseStrategy{coordinationv1.OldestEmulationVersion}
		if slices.Contains(known, strategy) {
			return nil
		}
		return field.ErrorList{field.NotSupported(path, strategy, known)}
	}
	var errs field.ErrorList
	for _, message := range utilvalidation.IsQualifiedName(string(strategy)) {
		errs = append(errs, field.Invalid(path, strategy, message))
	}
	return errs
}
