package lease

import (
	"slices"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var (
	metadataPath = field.NewPath("metadata")
	specPath     = field.NewPath("spec")
)

// ValidateCreate tells what is wrong with a Lease that PrepareCreate has seen. The order of the errors is that of
// kube-apiserver: metadata (name, labels, annotations, owners, finalizers), then the spec.
func ValidateCreate(next *coordinationv1.Lease) field.ErrorList {
	errs := validation.ValidateObjectMeta(&next.ObjectMeta, true, validation.NameIsDNSSubdomain, metadataPath)
	return append(errs, validateSpec(&next.Spec)...)
}

// ValidateUpdate tells what is wrong with next as the successor of current, after PrepareUpdate. Both carry the
// resourceVersion they have at the door; a next without one is refused.
// The rules for a new object hold for a changed one too, but each problem is told once. Metadata that is what current
// has was valid when it came, and is not looked at again.
func ValidateUpdate(next, current *coordinationv1.Lease) field.ErrorList {
	if next.ResourceVersion != "" && sameMetadata(&next.ObjectMeta, &current.ObjectMeta) {
		return validateSpec(&next.Spec)
	}
	errs := validation.ValidateObjectMeta(&next.ObjectMeta, true, validation.NameIsDNSSubdomain, metadataPath)
	errs = append(errs, validation.ValidateObjectMetaUpdate(&next.ObjectMeta, &current.ObjectMeta, metadataPath)...)
	return append(distinct(errs), validateSpec(&next.Spec)...)
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
		errs = append(errs, validateStrategy(*spec.Strategy)...)
	}
	wantsHolder := spec.PreferredHolder != nil && *spec.PreferredHolder != ""
	if wantsHolder && (spec.Strategy == nil || *spec.Strategy == "") {
		errs = append(errs, field.Forbidden(specPath.Child("preferredHolder"), "may only be specified if `strategy` is defined"))
	}
	return errs
}

// validateStrategy tells errors for spec.strategy.strategy, a path that does not exist: so does kube-apiserver. A word
// without a slash is Kubernetes' own, and there is one; with a slash it is somebody's qualified name.
func validateStrategy(strategy coordinationv1.CoordinatedLeaseStrategy) field.ErrorList {
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

// distinct keeps the first of errors that read the same.
func distinct(errs field.ErrorList) field.ErrorList {
	var kept field.ErrorList
	for _, err := range errs {
		same := func(other *field.Error) bool { return other.Error() == err.Error() }
		if !slices.ContainsFunc(kept, same) {
			kept = append(kept, err)
		}
	}
	return kept
}
