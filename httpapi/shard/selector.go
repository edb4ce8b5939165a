package shard

import (
	"k8s.io/apimachinery/pkg/sharding"
)

// Selector selects objects by ranges of a hash of their uid or their namespace. Neither ever changes, so an object enters
// or leaves a shard only by being created or deleted.
type Selector struct {
	text        string
	byNamespace bool // else by uid
	ranges      []hashRange
}

// hashRange holds its own ends: the end of the whole range, 2^64, is no hash.
type hashRange struct{ first, last uint64 }

// Parse understands a selector that is not empty.
func Parse(text string) (*Selector, error) {
	requirements, err := requirements(text)
	if err != nil {
		return nil, err
	}
	s := &Selector{
		text:        sharding.NewSelector(requirements...).String(),
		byNamespace: requirements[0].Key == namespaceField,
	}
	for _, r := range requirements {
		s.ranges = append(s.ranges, hashRange{first: hashOf(r.Start), last: hashOf(r.End) - 1})
	}
	return s, nil
}

// String is the selector in the form that lists tell.
func (s *Selector) String() string { return s.text }

// Selects says whether the shard holds an object. It equals what sharding.Selector finds out from a decoded object by way
// of text; this is asked of each object of a list and of each event of a watch.
func (s *Selector) Selects(namespace, uid string) bool {
	hashed := uid
	if s.byNamespace {
		hashed = namespace
	}
	hash := fnv1a(hashed)
	for _, r := range s.ranges {
		if r.first <= hash && hash <= r.last {
			return true
		}
	}
	return false
}

// fnv1a is the 64-bit FNV-1a hash.
func fnv1a(text string) uint64 {
	hash := uint64(14695981039346656037)
	for i := range len(text) {
		hash = (hash ^ uint64(text[i])) * 1099511628211
	}
	return hash
}
