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
	leases := Action{Verb: "list", Path: "/apis/coordination.k8s.io/v1/namespaces/ns/leases", Group: "coordination.k8s.io", Resource: "leases", Namespace: "ns"}
	everywhere := Action{Verb: "watch", Path: "/apis/coordination.k8s.io/v1/leases", Group: "coordination.k8s.io", Resource: "leases"}
	status := Action{Verb: "get", Group: "coordination.k8s.io", Resource: "leases", Subresource: "status", Namespace: "ns"}

	for _, c := range []struct {
		user   *User
		action Action
		want   string
	}{
		{nobody, Action{Verb: "get", Path: "/livez"}, ok},
		{nobody, Action{Verb: "head", Path: "/healthz"}, ok},
		{nobody, Action{Verb: "get", Path: "/readyz/"}, ok},
		{nobody, Action{Verb: "get", Path: "/version"}, ok},
		{user, Action{Verb: "get", Path: "/version"}, ok},
		{nobody, Action{Verb: "get", Path: "/livez/ping"}, unknown},
		{nobody, Action{Verb: "get", Path: "/metrics"}, unknown},
		{nobody, Action{Verb: "get", Path: "/apis"}, unknown},
		{nobody, Action{Verb: "get", Path: "/"}, unknown},
		{nobody, leases, unknown},

		{user, Action{Verb: "get", Path: "/api"}, ok},
		{user, Action{Verb: "get", Path: "/apis/coordination.k8s.io/v1"}, ok},
		{user, Action{Verb: "get", Path: "/openapi/v3/apis/coordination.k8s.io/v1"}, ok},
		{unreal, Action{Verb: "get", Path: "/apis"}, `User "system:anonymous" cannot get path "/apis"`},
		{unreal, Action{Verb: "get", Path: "/livez"}, ok},
		{user, Action{Verb: "get", Path: "/apix"}, `User "user" cannot get path "/apix"`},
		{user, Action{Verb: "post", Path: "/apis"}, `User "user" cannot post path "/apis"`},
		{user, Action{Verb: "get", Path: "/metrics"}, `User "user" cannot get path "/metrics"`},
		{user, leases, `User "user" cannot list resource "leases" in API group "coordination.k8s.io" in the namespace "ns"`},
		{user, everywhere, `User "user" cannot watch resource "leases" in API group "coordination.k8s.io" at the cluster scope`},
		{user, status, `User "user" cannot get resource "leases/status" in API group "coordination.k8s.io" in the namespace "ns"`},

		{admin, leases, ok},
		{admin, Action{Verb: "delete", Path: "/anything"}, ok},
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
		}
	}
}
