package candidate

import (
	"fmt"

	coordinationv1alpha2 "k8s.io/api/coordination/v1alpha2"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
)

// lifecycle is what a type of k8s.io/api tells of the releases of Kubernetes.
type lifecycle interface {
	APILifecycleDeprecated() (major, minor int)
	APILifecycleRemoved() (major, minor int)
}

// Deprecation is what every answer about LeaseCandidates of a version warns of, in the words of kube-apiserver. Both
// versions were deprecated before the release that is served here.
func Deprecation(version string) string {
	var of lifecycle = &coordinationv1beta1.LeaseCandidate{}
	if version == "v1alpha2" {
		of = &coordinationv1alpha2.LeaseCandidate{}
	}
	major, minor := of.APILifecycleDeprecated()
	goneMajor, goneMinor := of.APILifecycleRemoved()
	kind := Kind(version)
	return fmt.Sprintf("%s %s is deprecated in v%d.%d+, unavailable in v%d.%d+", kind.GroupVersion(), kind.Kind, major, minor, goneMajor, goneMinor)
}
