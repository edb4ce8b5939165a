package httpapi

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/leasehold/leasehold/fsm"
	"github.com/leasehold/leasehold/httpapi/candidate"
	"github.com/leasehold/leasehold/httpapi/discovery"
	"github.com/leasehold/leasehold/httpapi/fieldmanager"
	"github.com/leasehold/leasehold/httpapi/lease"
	"github.com/leasehold/leasehold/httpapi/media"
	"github.com/leasehold/leasehold/httpapi/object"
)

// kind is all that the verbs need to know of what a request is about: one kind of objects, in the version of the
// request's path. The route decides which it is, and no verb asks.
type kind struct {
	*media.Codec // what it is called, how it is written and read, what a Table shows of it
	rules

	resource schema.GroupResource  // as paths, rights and most errors name it; its name is also the resource of the store's keys
	fields   *fieldmanager.Manager // who owns which field
	warning  string                // that every answer carries; empty for none
}

// rules are what makes an object of a kind valid, and what makes two the same.
type rules struct {
	validateCreate func(next object.Object) field.ErrorList
	validateUpdate func(next, current object.Object) field.ErrorList
	equal          func(next, current object.Object) bool
}

// servedKinds are all there are, each in all its versions.
func servedKinds(lenientTimes bool) ([]*kind, error) {
	leases, err := leases(lenientTimes)
	if err != nil {
		return nil, err
	}
	all := []*kind{leases}
	for _, version := range candidate.Versions {
		candidates, err := candidates(version, lenientTimes)
		if err != nil {
			return nil, err
		}
		all = append(all, candidates)
	}
	return all, nil
}

func newKind(resource discovery.Resource, codec *media.Codec, rules rules, lenientTimes bool) (*kind, error) {
	if lenientTimes {
		codec = codec.WithLenientTimes()
	}
	fields, err := fieldmanager.New(codec.Kind)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", resource.Plural, err)
	}
	return &kind{
		Codec:    codec,
		rules:    rules,
		resource: schema.GroupResource{Group: resource.Group, Resource: resource.Plural},
		fields:   fields,
	}, nil
}

func leases(lenientTimes bool) (*kind, error) {
	return newKind(discovery.Leases(), media.Leases, rulesOf(lease.ValidateCreate, lease.ValidateUpdate, lease.Equal), lenientTimes)
}

func candidates(version string, lenientTimes bool) (*kind, error) {
	rules := rulesOf(candidate.ValidateCreate, candidate.ValidateUpdate, candidate.Equal)
	k, err := newKind(discovery.Candidates(version), media.Candidates(version), rules, lenientTimes)
	if err == nil {
		k.warning = candidate.Deprecation(version)
	}
	return k, err
}

// resourcesOf are the resources of the kinds, each once though it be served in several versions.
func resourcesOf(kinds []*kind) []string {
	var resources []string
	for _, k := range kinds {
		if !slices.Contains(resources, k.resource.Resource) {
			resources = append(resources, k.resource.Resource)
		}
	}
	return resources
}

// rulesOf are the rules of a kind whose objects are of one type.
func rulesOf[T object.Object](create func(next T) field.ErrorList, update func(next, current T) field.ErrorList, equal func(next, current T) bool) rules {
	return rules{
		validateCreate: func(next object.Object) field.ErrorList { return create(next.(T)) },
		validateUpdate: func(next, current object.Object) field.ErrorList { return update(next.(T), current.(T)) },
		equal:          func(next, current object.Object) bool { return equal(next.(T), current.(T)) },
	}
}

// key is that of an object; without a name that of a namespace's, without a namespace that of all.
func (k *kind) key(namespace, name string) fsm.Key {
	return fsm.Key{Resource: k.resource.Resource, Namespace: namespace, Name: name}
}

// stored is a version as the media room knows it.
func (k *kind) stored(version *fsm.Object) media.Stored {
	return media.Stored{Codec: k.Codec, Data: version.Data, Version: version.Revision}
}

// open reads a stored version, its resourceVersion filled in. The object is the caller's own.
func (k *kind) open(version *fsm.Object) (object.Object, error) { return k.stored(version).Decode() }
