package auth

import (
	"errors"
	"fmt"
	"strings"
)

// ErrUnauthenticated is a request without credentials for what needs a known user: 401.
var ErrUnauthenticated = errors.New("no credentials")

// Action is what a user wants to do: to a resource, or to a path if Resource is empty.
type Action struct {
	Verb string // get, list, watch, create, ...; of a path the method in lower case
	Path string

	Group       string // "" is the core group
	Resource    string
	Subresource string
	Namespace   string // "" is all of them
}

// Denied is a known user without the right: 403.
type Denied struct{ reason string }

// Error tells the reason in kube-apiserver's words.
func (d *Denied) Error() string { return d.reason }

// Authorise tells whether user (nil if not known) may act. Health and version are for anybody; discovery may be read by
// any known user; everything else is for Masters. Errors: ErrUnauthenticated, *Denied.
func Authorise(user *User, action Action) error {
	switch {
	case action.public():
		return nil
	case user == nil:
		return ErrUnauthenticated
	case user.In(Masters):
		return nil
	case action.discovers() && user.In(Authenticated):
		return nil
	}
	return &Denied{action.denied(user)}
}

// public paths are open to supervisors and balancers, which have no credentials; what can be done there is harmless
// whatever the verb.
func (a *Action) public() bool {
	if a.Resource != "" {
		return false
	}
	switch strings.TrimSuffix(a.Path, "/") {
	case "/livez", "/readyz", "/healthz", "/version":
		return true
	}
	return false
}

func (a *Action) discovers() bool {
	if a.Resource != "" || a.Verb != "get" {
		return false
	}
	for _, root := range []string{"/api", "/apis", "/openapi"} {
		if rest, ok := strings.CutPrefix(a.Path, root); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return false
}

func (a *Action) denied(user *User) string {
	if a.Resource == "" {
		return fmt.Sprintf("User %q cannot %s path %q", user.Name, a.Verb, a.Path)
	}
	resource := a.Resource
	if a.Subresource != "" {
		resource += "/" + a.Subresource
	}
	where := "at the cluster scope"
	if a.Namespace != "" {
		where = fmt.Sprintf("in the namespace %q", a.Namespace)
	}
	return fmt.Sprintf("User %q cannot %s resource %q in API group %q %s", user.Name, a.Verb, resource, a.Group, where)
}
