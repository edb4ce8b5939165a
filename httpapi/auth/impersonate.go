package auth

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Headers of https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation.
const (
	impersonateUser  = "Impersonate-User"
	impersonateUID   = "Impersonate-Uid"
	impersonateGroup = "Impersonate-Group"
	impersonateExtra = "Impersonate-Extra-"
)

// impersonate returns the user that user wants to be taken for, which only Masters may ask; user, if it does not ask.
// To take such a request as user's own instead would do with all rights what was meant to be done with fewer.
func impersonate(user *User, header http.Header) (*User, error) {
	if !asksToImpersonate(header) {
		return user, nil
	}
	name := header.Get(impersonateUser)
	if !user.In(Masters) {
		return nil, &Denied{fmt.Sprintf("User %q cannot impersonate resource %q in API group %q at the cluster scope", user.Name, "users", "")}
	}
	if name == "" {
		return nil, &Denied{"to impersonate a uid, a group or extra values without a user"}
	}
	as := &User{Name: name, UID: header.Get(impersonateUID), Groups: header.Values(impersonateGroup)}
	if name == anonymous {
		as.Groups = []string{Unauthenticated}
	} else {
		as.Groups = authenticated(as.Groups)
	}
	for key, values := range header {
		if escaped, ok := strings.CutPrefix(key, impersonateExtra); ok {
			if as.Extra == nil {
				as.Extra = map[string][]string{}
			}
			as.Extra[extraKey(escaped)] = values
		}
	}
	return as, nil
}

// asksToImpersonate is on the path of every request: it does not range over the headers but where it must.
func asksToImpersonate(header http.Header) bool {
	if header[impersonateUser] != nil || header[impersonateUID] != nil || header[impersonateGroup] != nil {
		return true
	}
	for key := range header {
		if strings.HasPrefix(key, impersonateExtra) {
			return true
		}
	}
	return false
}

// extraKey undoes what clients do to keys that cannot be part of a header's name.
func extraKey(escaped string) string {
	key := strings.ToLower(escaped)
	if plain, err := url.PathUnescape(key); err == nil {
		return plain
	}
	return key
}
