package auth

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhoMayDoWhat(t *testing.T) {
	var (
		nobody *User
		user   = &User{Name: "user", Groups: []string{Authenticated}}
		admin  = &User{Name: "admin", Groups: []string{Masters, Authenticated}}
		unreal = &User{Name: "system:anonymous", Groups: []string{Unauthenticated}}
	)
	const ok, unknown = "", "no credentials"
	path := func(verb, path string) Action { return Action{Verb: verb, OnPath: true, Path: path} }
	leases := Action{Verb: "list", Group: "coordination.k8s.io", Resource: "leases", Namespace: "ns"}
	everywhere := Action{Verb: "watch", Group: "coordination.k8s.io", Resource: "leases"}
	status := Action{Verb: "get", Group: "coordination.k8s.io", Resource: "leases", Subresource: "status", Namespace: "ns"}
	whoami := Action{Verb: "create", Group: "authentication.k8s.io", Resource: "selfsubjectreviews"}
	others := Action{Verb: "create", Group: "authorization.k8s.io", Resource: "subjectaccessreviews"}

	for _, c := range []struct {
		user   *User
		action Action
		want   string
	}{
		{nobody, path("get", "/livez"), ok},
		{nobody, path("head", "/healthz"), ok},
		{nobody, path("get", "/version"), ok},
		{nobody, path("post", "/version"), unknown},
		{nobody, path("get", "/livez/ping"), unknown},
		{nobody, path("get", "/metrics"), unknown},
		{nobody, path("get", "/apis"), unknown},
		{nobody, path("get", "/"), unknown},
		{nobody, leases, unknown},
		{nobody, whoami, unknown},

		{unreal, path("get", "/livez"), ok},
		{unreal, path("get", "/version/"), ok},
		{unreal, path("head", "/livez"), `User "system:anonymous" cannot head path "/livez"`},
		{unreal, path("get", "/apis"), `User "system:anonymous" cannot get path "/apis"`},
		{unreal, whoami, `User "system:anonymous" cannot create resource "selfsubjectreviews" in API group "authentication.k8s.io" at the cluster scope`},

		{user, path("get", "/version"), ok},
		{user, path("get", "/api"), ok},
		{user, path("get", "/apis/coordination.k8s.io/v1"), ok},
		{user, path("get", "/openapi/v3/apis/coordination.k8s.io/v1"), ok},
		{user, path("get", "/apix"), `User "user" cannot get path "/apix"`},
		{user, path("get", "/livez/"), `User "user" cannot get path "/livez/"`},
		{user, path("post", "/apis"), `User "user" cannot post path "/apis"`},
		{user, path("get", "/<b>&"), `User "user" cannot get path "/&lt;b&gt;&amp;"`},
		{user, whoami, ok},
		{user, others, `User "user" cannot create resource "subjectaccessreviews" in API group "authorization.k8s.io" at the cluster scope`},
		{user, leases, `User "user" cannot list resource "leases" in API group "coordination.k8s.io" in the namespace "ns"`},
		{user, everywhere, `User "user" cannot watch resource "leases" in API group "coordination.k8s.io" at the cluster scope`},
		{user, status, `User "user" cannot get resource "leases/status" in API group "coordination.k8s.io" in the namespace "ns"`},

		{admin, leases, ok},
		{admin, path("delete", "/anything"), ok},
	} {
		err := Authorise(c.user, c.action)
		switch c.want {
		case ok:
			assert.NoError(t, err, "%v", c.action)
		case unknown:
			assert.ErrorIs(t, err, ErrUnauthenticated, "%v", c.action)
		default:
			var denied *Denied
			require.ErrorAs(t, err, &denied, "%v", c.action)
			assert.Equal(t, c.want, denied.Error())
			assert.Equal(t, c.action, denied.Action)
		}
	}
}

func TestReviewTellsByWhichRight(t *testing.T) {
	user := &User{Name: "user", Groups: []string{Authenticated}}
	allowed, reason := Review(user, Action{Verb: "get", OnPath: true, Path: "/apis"})
	assert.True(t, allowed)
	assert.Equal(t, `RBAC: allowed by ClusterRoleBinding "system:discovery" of ClusterRole "system:discovery" to Group "system:authenticated"`, reason)
	allowed, reason = Review(user, Action{Verb: "get", Resource: "namespaces"})
	assert.False(t, allowed)
	assert.Empty(t, reason)
	allowed, _ = Review(user, Action{Verb: "*", OnPath: true, Path: "*"})
	assert.False(t, allowed, "all is more than some")
	allowed, _ = Review(user, Action{})
	assert.False(t, allowed)
	allowed, reason = Review(&User{Name: "admin", Groups: []string{Masters}}, Action{Verb: "*", Group: "*", Resource: "*"})
	assert.True(t, allowed)
	assert.Empty(t, reason)
}

// What a user is told to be able to do and what the user can do must not differ.
func TestRulesAreWhatIsAllowed(t *testing.T) {
	for name, user := range map[string]*User{
		"nobody in particular": {Name: Anonymous, Groups: []string{Unauthenticated}},
		"a user":               {Name: "user", Groups: []string{Authenticated}},
		"an administrator":     {Name: "admin", Groups: []string{Masters, Authenticated}},
		"in no group":          {Name: "lost"},
	} {
		t.Run(name, func(t *testing.T) {
			resources, paths := Rules(user)
			for _, rule := range resources {
				for _, resource := range rule.Resources {
					assert.NoError(t, Authorise(user, Action{Verb: rule.Verbs[0], Group: rule.Groups[0], Resource: resource}))
				}
			}
			for _, rule := range paths {
				for _, path := range rule.Paths {
					assert.NoError(t, Authorise(user, Action{Verb: rule.Verbs[0], OnPath: true, Path: path}))
				}
			}
			assert.Equal(t, user.In(Masters), len(resources) > 0 && resources[0].Resources[0] == "*")
			assert.Equal(t, len(user.Groups) > 0, len(paths) > 0)
		})
	}
}
