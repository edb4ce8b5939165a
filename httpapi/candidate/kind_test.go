package candidate_test

import (
	"testing"

	"github.com/leasehold/leasehold/httpapi/candidate"
	"github.com/stretchr/testify/assert"
	coordinationv1alpha2 "k8s.io/api/coordination/v1alpha2"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
)

// One type does for both versions as long as this compiles.
var _ = coordinationv1beta1.LeaseCandidateSpec(coordinationv1alpha2.LeaseCandidateSpec{})

func TestBothVersionsAreDeprecated(t *testing.T) {
	assert.Equal(t, "coordination.k8s.io/v1beta1 LeaseCandidate is deprecated in v1.36+, unavailable in v1.39+", candidate.Deprecation("v1beta1"))
	assert.Equal(t, "coordination.k8s.io/v1alpha2 LeaseCandidate is deprecated in v1.35+, unavailable in v1.38+", candidate.Deprecation("v1alpha2"))
}
