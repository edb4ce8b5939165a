package auth

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var listing = Action{Verb: "list", Group: "coordination.k8s.io", Resource: "leases", Namespace: "ns"}

func TestAdministratorIsTakenForWhoIsWanted(t *testing.T) {
	admin := &User{Name: "admin", Groups: []string{Masters, Authenticated}}
	for name, c := range map[string]struct {
		header []string
		want   *User
	}{
		"nobody else": {nil, admin},
		"no value":    {[]string{"Impersonate-User", "", "Impersonate-Uid", ""}, admin},
		"a user":      {[]string{"Impersonate-User", "someone"}, &User{Name: "someone", Groups: []string{Authenticated}}},
		"all there is to a user": {
			[]string{"Impersonate-User", "someone", "Impersonate-Uid", "7", "Impersonate-Group", "a", "Impersonate-Group", "b",
				"Impersonate-Extra-acme.com%2fproject", "x", "Impersonate-Extra-Acme.com%2FProject", "y"},
			&User{Name: "someone", UID: "7", Groups: []string{"a", "b", Authenticated}, Extra: map[string][]string{"acme.com/project": {"x", "y"}}},
		},
		"anonymous":        {[]string{"Impersonate-User", Anonymous}, &User{Name: Anonymous, Groups: []string{Unauthenticated}}},
		"unauthenticated":  {[]string{"Impersonate-User", "x", "Impersonate-Group", Unauthenticated}, &User{Name: "x", Groups: []string{Unauthenticated}}},
		"a node":           {[]string{"Impersonate-User", "system:node:n1"}, &User{Name: "system:node:n1", Groups: []string{"system:nodes", Authenticated}}},
		"a node with more": {[]string{"Impersonate-User", "system:node:n1", "Impersonate-Uid", "7"}, &User{Name: "system:node:n1", UID: "7", Groups: []string{Authenticated}}},
		"a service account": {
			[]string{"Impersonate-User", "system:serviceaccount:ns:default"},
			&User{Name: "system:serviceaccount:ns:default", Groups: []string{"system:serviceaccounts", "system:serviceaccounts:ns", Authenticated}},
		},
		"a service account in other groups": {
			[]string{"Impersonate-User", "system:serviceaccount:ns:default", "Impersonate-Group", "a"},
			&User{Name: "system:serviceaccount:ns:default", Groups: []string{"a", Authenticated}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Impersonate(admin, request(c.header...).Header, listing)
			require.NoError(t, err)
			got.Extra = sorted(got.Extra)
			assert.Equal(t, c.want, got)
		})
	}
}

// sorted makes up for two spellings of a header that are one key.
func sorted(extra map[string][]string) map[string][]string {
	for _, values := range extra {
		if len(values) == 2 && values[0] > values[1] {
			values[0], values[1] = values[1], values[0]
		}
	}
	return extra
}

func TestOthersHearWhichRightTheyLackToImpersonate(t *testing.T) {
	user := &User{Name: "user", Groups: []string{Authenticated}}
	for name, c := range map[string]struct {
		header []string
		action Action
		want   string
	}{
		"a user": {[]string{"Impersonate-User", "root"}, listing,
			`User "user" cannot impersonate-on:user-info:list resource "leases" in API group "coordination.k8s.io" in the namespace "ns"`},
		"on a path": {[]string{"Impersonate-User", "root", "Impersonate-Group", Masters}, Action{Verb: "get", OnPath: true, Path: "/livez"},
			`User "user" cannot impersonate-on:user-info:get path "/livez"`},
		"a node": {[]string{"Impersonate-User", "system:node:n1"}, listing,
			`User "user" cannot impersonate-on:arbitrary-node:list resource "leases" in API group "coordination.k8s.io" in the namespace "ns"`},
		"no node": {[]string{"Impersonate-User", "system:node:N 1"}, listing,
			`User "user" cannot impersonate-on:user-info:list resource "leases" in API group "coordination.k8s.io" in the namespace "ns"`},
		"a service account": {[]string{"Impersonate-User", "system:serviceaccount:a:b"}, listing,
			`User "user" cannot impersonate-on:serviceaccount:list resource "leases" in API group "coordination.k8s.io" in the namespace "ns"`},
		"a node with more": {[]string{"Impersonate-User", "system:node:n1", "Impersonate-Group", "g"}, listing,
			`User "user" cannot impersonate resource "users" in API group "" at the cluster scope`},
		"a service account with more": {[]string{"Impersonate-User", "system:serviceaccount:a:b", "Impersonate-Extra-X", "y"}, listing,
			`User "user" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "a"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Impersonate(user, request(c.header...).Header, c.action)
			var denied *Denied
			require.ErrorAs(t, err, &denied)
			assert.Equal(t, c.want, denied.Error())
		})
	}
}

func TestNobodyIsImpersonatedWithoutAName(t *testing.T) {
	user := &User{Name: "user", Groups: []string{Authenticated}}
	for want, header := range map[string][]string{
		`requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"a"}, Extra:map[string][]string(nil)} without impersonating a user name`: {"Impersonate-Group", "a"},
		`requested &user.DefaultInfo{Name:"", UID:"7", Groups:[]string(nil), Extra:map[string][]string{"x":[]string{"y"}}} without impersonating a user name`: {
			"Impersonate-Uid", "7", "Impersonate-Extra-X", "y"},
	} {
		_, err := Impersonate(user, request(header...).Header, listing)
		var nameless *Nameless
		require.ErrorAs(t, err, &nameless)
		assert.Equal(t, want, nameless.Error())
	}
}
