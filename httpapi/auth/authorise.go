package auth

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrUnauthenticated is a request without credentials for what needs a known user: 401.
var ErrUnauthenticated = errors.New("no credentials")

// Action is what a user wants to do: to a resource, or to a path that is no resource's.
type Action struct {
	Verb string // get, list, watch, create, ...; of a path the method in lower case

	OnPath bool
	Path   string

	Group       string // "" is the core group
	Resource    string
	Subresource string
	Namespace   string // "" is all of them, or none
	Name        string // "" is any; no right depends on it
}

// Denied is a known user without the right: 403.
type Denied struct {
	Action Action // what is denied, which may be less than what the request was about
	user   string
}

// sanitised keeps what a client sent from looking like HTML when it is told back.
var sanitised = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// Error tells what is denied, in kube-apiserver's words.
func (d *Denied) Error() string {
	a := &d.Action
	if a.OnPath {
		return sanitised.Replace(fmt.Sprintf("User %q cannot %s path %q", d.user, a.Verb, a.Path))
	}
	where := "at the cluster scope"
	if a.Namespace != "" {
		where = fmt.Sprintf("in the namespace %q", a.Namespace)
	}
	return sanitised.Replace(fmt.Sprintf("User %q cannot %s resource %q in API group %q %s", d.user, a.Verb, a.resource(), a.Group, where))
}

// resource names a subresource as rules do.
func (a *Action) resource() string {
	if a.Subresource == "" {
		return a.Resource
	}
	return a.Resource + "/" + a.Subresource
}

// Authorise tells whether user may act. A nil user, whom only an Authenticator that refuses anonymous requests lets in,
// may look at the health and the version, which supervisors and balancers do without credentials. Errors:
// ErrUnauthenticated, *Denied.
func Authorise(user *User, action Action) error {
	switch {
	case user == nil:
		if action.OnPath && (action.Verb == "get" || action.Verb == "head") && slices.Contains(public, action.Path) {
			return nil
		}
		return ErrUnauthenticated
	case user.In(Masters):
		return nil
	}
	if allowed, _ := Review(user, action); allowed {
		return nil
	}
	return &Denied{action, user.Name}
}

// Review tells whether user may act, and by which right, in kube-apiserver's words: there Masters need none.
func Review(user *User, action Action) (allowed bool, reason string) {
	if user.In(Masters) {
		return true, ""
	}
	for i := range roles {
		role := &roles[i]
		if group, member := role.member(user); member && role.lets(&action) {
			return true, fmt.Sprintf("RBAC: allowed by ClusterRoleBinding %q of ClusterRole %q to Group %q", role.name, role.name, group)
		}
	}
	return false, ""
}
