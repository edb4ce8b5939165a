package auth

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Headers of https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation.
const (
	impersonateUser  = "Impersonate-User"
	impersonateUID   = "Impersonate-Uid"
	impersonateGroup = "Impersonate-Group"
	impersonateExtra = "Impersonate-Extra-"
)

// Nameless is a request to be taken for somebody of whom everything may be told but the name: 400.
type Nameless struct{ wanted *User }

// Error tells what was wanted, in kube-apiserver's words, which are Go's.
func (n *Nameless) Error() string {
	return fmt.Sprintf("requested &user.DefaultInfo{Name:%#v, UID:%#v, Groups:%#v, Extra:%#v} without impersonating a user name",
		n.wanted.Name, n.wanted.UID, n.wanted.Groups, n.wanted.Extra)
}

// Impersonate returns the user that user wants to be taken for when acting, which only Masters may ask; user, if the
// header asks nothing of the kind. To take such a request as user's own instead would do with all rights what was meant to
// be done with fewer. Errors: *Nameless, *Denied.
func Impersonate(user *User, header http.Header, action Action) (*User, error) {
	if !asksToImpersonate(header) {
		return user, nil
	}
	wanted := wantedUser(header)
	if wanted.Name == "" {
		if wanted.UID == "" && wanted.Groups == nil && !asksForExtra(header) {
			return user, nil // headers without a value
		}
		return nil, &Nameless{wanted}
	}
	if !user.In(Masters) {
		return nil, &Denied{impersonation(wanted, action), user.Name}
	}
	return wanted.complete(), nil
}

// asksToImpersonate is on the path of every request: it does not range over the headers but where it must.
func asksToImpersonate(header http.Header) bool {
	return header[impersonateUser] != nil || header[impersonateUID] != nil || header[impersonateGroup] != nil || asksForExtra(header)
}

func asksForExtra(header http.Header) bool {
	for key := range header {
		if strings.HasPrefix(key, impersonateExtra) {
			return true
		}
	}
	return false
}

// wantedUser is the user as the header has it.
func wantedUser(header http.Header) *User {
	wanted := &User{Name: header.Get(impersonateUser), UID: header.Get(impersonateUID), Groups: slices.Clone(header[impersonateGroup])}
	for key, values := range header {
		if escaped, ok := strings.CutPrefix(key, impersonateExtra); ok && len(values) > 0 {
			if wanted.Extra == nil {
				wanted.Extra = map[string][]string{}
			}
			key := extraKey(escaped)
			wanted.Extra[key] = append(wanted.Extra[key], values...)
		}
	}
	return wanted
}

// extraKey undoes what clients do to keys that cannot be part of a header's name.
func extraKey(escaped string) string {
	key := strings.ToLower(escaped)
	if plain, err := url.PathUnescape(key); err == nil {
		return plain
	}
	return key
}

// complete adds the groups that somebody of such a name is always in.
func (u *User) complete() *User {
	if len(u.Groups) == 0 {
		if namespace, _, ok := serviceAccount(u.Name); ok {
			u.Groups = []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace}
		} else if u.alone() && isNode(u.Name) {
			u.Groups = []string{"system:nodes"}
		}
	}
	switch {
	case u.Name == Anonymous && !u.In(Unauthenticated):
		u.Groups = append(u.Groups, Unauthenticated)
	case u.Name != Anonymous && !u.In(Unauthenticated):
		u.Groups = authenticated(u.Groups)
	}
	return u
}

// alone says that nothing but the name is wanted.
func (u *User) alone() bool { return u.UID == "" && len(u.Groups) == 0 && len(u.Extra) == 0 }

// impersonation is what a user without any right to impersonate is told to lack. kube-apiserver asks for the narrowest
// right first (https://kep.k8s.io/5284): to do the action, as a user of that sort. Of nodes and service accounts with
// more than a name there is only the right that was there before: to be that user, whatever is done.
func impersonation(wanted *User, action Action) Action {
	namespace, account, isAccount := serviceAccount(wanted.Name)
	sort := "user-info"
	switch {
	case isAccount:
		sort = "serviceaccount"
	case isNode(wanted.Name):
		sort = "arbitrary-node"
	}
	switch {
	case sort == "user-info" || wanted.alone():
		action.Verb = "impersonate-on:" + sort + ":" + action.Verb
		return action
	case isAccount:
		return Action{Verb: "impersonate", Resource: "serviceaccounts", Namespace: namespace, Name: account}
	}
	return Action{Verb: "impersonate", Resource: "users", Name: wanted.Name}
}

func isNode(user string) bool {
	name, ok := strings.CutPrefix(user, "system:node:")
	return ok && len(validation.IsDNS1123Subdomain(name)) == 0
}

// serviceAccount reads the namespace and the name out of a user's.
func serviceAccount(user string) (namespace, name string, ok bool) {
	rest, ok := strings.CutPrefix(user, "system:serviceaccount:")
	if !ok {
		return "", "", false
	}
	namespace, name, ok = strings.Cut(rest, ":")
	return namespace, name, ok && len(validation.IsDNS1123Label(namespace)) == 0 && len(validation.IsDNS1123Subdomain(name)) == 0
}
