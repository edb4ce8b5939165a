package discovery

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Resource is one kind of objects that is served.
type Resource struct {
	Group, Version, Kind string
	Plural, Singular     string
	Namespaced           bool
	ShortNames           []string
	Verbs                []string // in alphabetical order
	Stored               string   // the version that objects are stored in; empty for what is only asked
}

// Served are all resources of this server, the versions of a group in order of preference.
func Served() []Resource {
	return []Resource{
		Namespaces(), SelfSubjectReviews(), SelfSubjectAccessReviews(), SelfSubjectRulesReviews(),
		Leases(), Candidates("v1beta1"), Candidates("v1alpha2"),
	}
}

// Leases are the resource this server is about.
func Leases() Resource {
	return Resource{
		Group: "coordination.k8s.io", Version: "v1", Kind: "Lease",
		Plural: "leases", Singular: "lease", Namespaced: true,
		Verbs: allVerbs, Stored: "v1",
	}
}

// Candidates are those who stand for the Leases that coordinated leader election is about, in one of two versions.
func Candidates(version string) Resource {
	return Resource{
		Group: "coordination.k8s.io", Version: version, Kind: "LeaseCandidate",
		Plural: "leasecandidates", Singular: "leasecandidate", Namespaced: true,
		Verbs: allVerbs, Stored: "v1beta1",
	}
}

var allVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

// Namespaces are implicit and can only be looked at. They are also what the core group has to show: kubectl
// understands a List only where core v1 is served, and client-go up to 0.29 takes a version without resources for an
// error.
func Namespaces() Resource {
	return Resource{
		Version: "v1", Kind: "Namespace",
		Plural: "namespaces", Singular: "namespace", ShortNames: []string{"ns"},
		Verbs: []string{"get", "list", "watch"}, Stored: "v1",
	}
}

// SelfSubjectReviews are how a user asks who it is.
func SelfSubjectReviews() Resource {
	return Resource{
		Group: "authentication.k8s.io", Version: "v1", Kind: "SelfSubjectReview",
		Plural: "selfsubjectreviews", Singular: "selfsubjectreview",
		Verbs: []string{"create"},
	}
}

// SelfSubjectAccessReviews are how a user asks whether it may do something.
func SelfSubjectAccessReviews() Resource {
	return Resource{
		Group: "authorization.k8s.io", Version: "v1", Kind: "SelfSubjectAccessReview",
		Plural: "selfsubjectaccessreviews", Singular: "selfsubjectaccessreview",
		Verbs: []string{"create"},
	}
}

// SelfSubjectRulesReviews are how a user asks for all that it may do.
func SelfSubjectRulesReviews() Resource {
	return Resource{
		Group: "authorization.k8s.io", Version: "v1", Kind: "SelfSubjectRulesReview",
		Plural: "selfsubjectrulesreviews", Singular: "selfsubjectrulesreview",
		Verbs: []string{"create"},
	}
}

func (r *Resource) groupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: r.Group, Version: r.Version}
}

// storageHash tells clients whether two servers store a resource alike; it is made as kube-apiserver makes it. What is
// only asked is not stored.
func (r *Resource) storageHash() string {
	if r.Stored == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(r.Group + "/" + r.Stored + "/" + r.Kind))
	return base64.StdEncoding.EncodeToString(sum[:8])
}

// group is what is served of one API group: its versions in order of preference, each with its resources.
type group struct {
	name     string
	versions []groupVersion
}

type groupVersion struct {
	schema.GroupVersion
	resources []Resource
}

// groupsOf arranges resources by group and version, each in order of their first appearance. The core group is apart, and
// always there.
func groupsOf(resources []Resource) (core group, groups []group) {
	groups = []group{{}}
	for _, r := range resources {
		g := slices.IndexFunc(groups, func(g group) bool { return g.name == r.Group })
		if g < 0 {
			g, groups = len(groups), append(groups, group{name: r.Group})
		}
		versions := &groups[g].versions
		v := slices.IndexFunc(*versions, func(v groupVersion) bool { return v.Version == r.Version })
		if v < 0 {
			v, *versions = len(*versions), append(*versions, groupVersion{GroupVersion: r.groupVersion()})
		}
		(*versions)[v].resources = append((*versions)[v].resources, r)
	}
	return groups[0], groups[1:]
}

// path is where the version's resources are.
func (v *groupVersion) path() string {
	if v.Group == "" {
		return "/api/" + v.Version
	}
	return "/apis/" + v.String()
}

func (v *groupVersion) forDiscovery() metav1.GroupVersionForDiscovery {
	return metav1.GroupVersionForDiscovery{GroupVersion: v.String(), Version: v.Version}
}
