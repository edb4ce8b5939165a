package auth

import "slices"

// Groups with a meaning of their own.
const (
	// Masters may do everything.
	Masters = "system:masters"
	// Authenticated holds everybody who proved who they are.
	Authenticated = "system:authenticated"
	// Unauthenticated holds the user that stands for all others.
	Unauthenticated = "system:unauthenticated"
)

// Anonymous is the name of the user in Unauthenticated.
const Anonymous = "system:anonymous"

// User is who sent a request. Users are shared between requests and must not be changed.
type User struct {
	Name   string
	UID    string
	Groups []string
	Extra  map[string][]string
}

// In tells whether the user is a member of a group.
func (u *User) In(group string) bool { return slices.Contains(u.Groups, group) }

// authenticated returns groups with Authenticated among them.
func authenticated(groups []string) []string {
	if slices.Contains(groups, Authenticated) {
		return groups
	}
	return append(slices.Clone(groups), Authenticated)
}
