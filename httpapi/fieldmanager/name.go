package fieldmanager

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName is the length in bytes that a manager's name may have.
const maxName = 128

// Name is the manager of a request: the one it names, or what stands before the first slash of its User-Agent, without
// unprintable characters and cut to 128 bytes. A request that has neither is managed by "unknown", which Update fills in.
func Name(fieldManager, userAgent string) string {
	if fieldManager != "" {
		return fieldManager
	}
	agent, _, _ := strings.Cut(userAgent, "/")
	if plain(agent) {
		return agent[:min(len(agent), maxName)]
	}
	var name strings.Builder
	for _, r := range agent {
		if !unicode.IsPrint(r) {
			continue
		}
		if name.Len()+utf8.RuneLen(r) > maxName {
			break
		}
		name.WriteRune(r)
	}
	return name.String()
}

// plain tells whether nothing is to be left out of s and it may be cut anywhere, which goes for nearly all agents.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
