package auth

import (
	"slices"
	"strings"
)

// ResourceRule lets do something to resources, PathRule to paths that are no resource's. They mean what they mean in a
// ClusterRole of Kubernetes: "*" is everything, and a path may end in it.
type (
	ResourceRule struct{ Verbs, Groups, Resources []string }
	PathRule     struct{ Verbs, Paths []string }
)

// role is what members of some groups may do.
type role struct {
	name      string
	groups    []string
	resources []ResourceRule
	paths     []PathRule
}

var (
	all     = []string{"*"}
	reading = []string{"get"}
	asking  = []string{"create"} // a review is asked by creating it
)

// roles are those that every Kubernetes cluster begins with, as far as there is something for them to do here, and bound
// to the same groups. The first that fits is the one that is told.
var roles = []role{
	{
		name: "cluster-admin", groups: []string{Masters},
		resources: []ResourceRule{{Verbs: all, Groups: all, Resources: all}},
		paths:     []PathRule{{Verbs: all, Paths: all}},
	},
	{
		name: "system:basic-user", groups: []string{Authenticated},
		resources: []ResourceRule{
			{Verbs: asking, Groups: []string{"authorization.k8s.io"}, Resources: []string{"selfsubjectaccessreviews", "selfsubjectrulesreviews"}},
			{Verbs: asking, Groups: []string{"authentication.k8s.io"}, Resources: []string{"selfsubjectreviews"}},
		},
	},
	{
		name: "system:discovery", groups: []string{Authenticated},
		paths: []PathRule{{Verbs: reading, Paths: []string{
			"/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi", "/openapi/*", "/readyz", "/version", "/version/",
		}}},
	},
	{
		name: "system:public-info-viewer", groups: []string{Authenticated, Unauthenticated},
		paths: []PathRule{{Verbs: reading, Paths: public}},
	},
}

// public paths are open to everybody.
var public = []string{"/healthz", "/livez", "/readyz", "/version", "/version/"}

// Rules returns all that a user may do, in the order of the roles. The slices are shared: read only.
func Rules(user *User) (resources []ResourceRule, paths []PathRule) {
	for i := range roles {
		if _, member := roles[i].member(user); member {
			resources = append(resources, roles[i].resources...)
			paths = append(paths, roles[i].paths...)
		}
	}
	return resources, paths
}

// member returns the group by which a user has the role.
func (r *role) member(user *User) (group string, member bool) {
	for _, group := range r.groups {
		if user.In(group) {
			return group, true
		}
	}
	return "", false
}

func (r *role) lets(action *Action) bool {
	if action.OnPath {
		return slices.ContainsFunc(r.paths, func(rule PathRule) bool { return rule.covers(action) })
	}
	return slices.ContainsFunc(r.resources, func(rule ResourceRule) bool { return rule.covers(action) })
}

func (r *ResourceRule) covers(action *Action) bool {
	return names(r.Verbs, action.Verb) && names(r.Groups, action.Group) && names(r.Resources, action.resource())
}

func (r *PathRule) covers(action *Action) bool {
	return names(r.Verbs, action.Verb) && slices.ContainsFunc(r.Paths, func(path string) bool {
		if prefix, open := strings.CutSuffix(path, "*"); open {
			return strings.HasPrefix(action.Path, prefix)
		}
		return path == action.Path
	})
}

func names(known []string, name string) bool {
	return slices.Contains(known, name) || slices.Contains(known, "*")
}
