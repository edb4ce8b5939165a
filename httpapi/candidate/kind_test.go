package candidate_test

import (
	coordinationv1alpha2 "k8s.io/api/coordination/v1alpha2"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
)

// One type does for both versions as long as this compiles.
var _ = coordinationv1beta1.LeaseCandidateSpec(coordinationv1alpha2.LeaseCandidateSpec{})
