package fieldmanager

import (
	"bytes"
	"maps"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/leasehold/leasehold/httpapi/object"
)

// leaseVersion is how entries write the version of what is renewed.
const leaseVersion = "coordination.k8s.io/v1"

// renewals answers updates of Leases after which everybody owns what they owned before: the writer changes fields of the spec that
// are its own alone, as a holder does that renews. Then all there is to do is to note the time. It never answers
// otherwise than the library would; whatever it is not sure of it leaves to it.
type renewals struct {
	mu sync.RWMutex // guards recent, older
	// recent and older hold what is known of fieldsV1 texts, by the text. Recent becomes older when it is full, so that
	// what is in use stays and the whole is bounded.
	recent, older map[string]*owned
}

const (
	// remembered is how many texts a generation holds. Leader election has a handful of texts in all; the leases of
	// nodes have one each, since the text names the node's uid.
	remembered = 8192
	// maxText is the length of the longest text worth remembering.
	maxText = 2048
	// maxUpdaters is how many Update entries the library leaves alone.
	maxUpdaters = 10
)

// specField is one field of the spec, as a bit.
type specField uint8

const (
	holderIdentity specField = 1 << iota
	leaseDurationSeconds
	acquireTime
	renewTime
	leaseTransitions
	strategy
	preferredHolder
)

// owned is what a fieldsV1 text says. A nil one stands for a text that is left to the library.
type owned struct {
	spec specField
	// written is how the library writes the text, nil if that is how it is written.
	written *metav1.FieldsV1
}

func newRenewals() *renewals {
	return &renewals{recent: map[string]*owned{}, older: map[string]*owned{}}
}

// answer sets the managedFields of next and returns true, or leaves next as it is.
func (r *renewals) answer(current, next object.Object, manager string, now time.Time) bool {
	from, is := current.(*coordinationv1.Lease)
	to, are := next.(*coordinationv1.Lease)
	return is && are && r.renew(from, to, manager, now)
}

func (r *renewals) renew(current, next *coordinationv1.Lease, manager string, now time.Time) bool {
	entries := next.ManagedFields
	if entries == nil {
		entries = current.ManagedFields
	}
	if len(entries) == 0 || current.UID == "" || !sameMetadata(current, next) {
		return false
	}
	changed, ok := changedSpec(&current.Spec, &next.Spec)
	if !ok {
		return false
	}
	if manager == "" {
		manager = "unknown"
	}
	out := make([]metav1.ManagedFieldsEntry, len(entries))
	updaters, own := 0, -1
	for i := range entries {
		entry := &entries[i]
		fields := r.read(entry)
		if fields == nil || repeated(entries[:i], entry) {
			return false
		}
		out[i] = *entry
		if fields.written != nil {
			out[i].FieldsV1 = fields.written
		}
		mine := false
		if entry.Operation == metav1.ManagedFieldsOperationUpdate {
			updaters++
			mine = entry.Manager == manager && entry.Subresource == ""
		}
		switch {
		case mine && changed&^fields.spec != 0, !mine && changed&fields.spec != 0:
			return false // a field changes hands
		case mine:
			own = i
		}
	}
	if updaters > maxUpdaters {
		return false
	}
	if changed != 0 {
		if own < 0 {
			return false
		}
		out[own].Time = moment(now)
	}
	order(out)
	next.ManagedFields = out
	return true
}

// sameMetadata compares the metadata that has owners. Uid, version, generation and creationTimestamp have none.
func sameMetadata(current, next *coordinationv1.Lease) bool {
	return current.Name == next.Name &&
		current.Namespace == next.Namespace &&
		current.GenerateName == next.GenerateName &&
		sameTime(current.DeletionTimestamp, next.DeletionTimestamp) &&
		same(current.DeletionGracePeriodSeconds, next.DeletionGracePeriodSeconds) &&
		maps.Equal(current.Labels, next.Labels) &&
		maps.Equal(current.Annotations, next.Annotations) &&
		slices.Equal(current.Finalizers, next.Finalizers) &&
		slices.EqualFunc(current.OwnerReferences, next.OwnerReferences, sameOwner)
}

func sameOwner(a, b metav1.OwnerReference) bool {
	return a.APIVersion == b.APIVersion && a.Kind == b.Kind && a.Name == b.Name && a.UID == b.UID &&
		same(a.Controller, b.Controller) && same(a.BlockOwnerDeletion, b.BlockOwnerDeletion)
}

func sameTime(a, b *metav1.Time) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Time.Equal(b.Time)
}

func same[T comparable](a, b *T) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// changedSpec tells which fields have another value. It is not ok if one came or went.
func changedSpec(current, next *coordinationv1.LeaseSpec) (changed specField, ok bool) {
	ok = note(&changed, holderIdentity, current.HolderIdentity, next.HolderIdentity) &&
		note(&changed, leaseDurationSeconds, current.LeaseDurationSeconds, next.LeaseDurationSeconds) &&
		noteTime(&changed, acquireTime, current.AcquireTime, next.AcquireTime) &&
		noteTime(&changed, renewTime, current.RenewTime, next.RenewTime) &&
		note(&changed, leaseTransitions, current.LeaseTransitions, next.LeaseTransitions) &&
		note(&changed, strategy, current.Strategy, next.Strategy) &&
		note(&changed, preferredHolder, current.PreferredHolder, next.PreferredHolder)
	return changed, ok
}

func note[T comparable](changed *specField, field specField, current, next *T) bool {
	if current == nil || next == nil {
		return current == nil && next == nil
	}
	if *current != *next {
		*changed |= field
	}
	return true
}

// noteTime compares times as they are written, in whole microseconds.
func noteTime(changed *specField, field specField, current, next *metav1.MicroTime) bool {
	if current == nil || next == nil {
		return current == nil && next == nil
	}
	if current.Unix() != next.Unix() || current.Nanosecond()/1000 != next.Nanosecond()/1000 {
		*changed |= field
	}
	return true
}

// repeated tells whether an entry before this one has the same identity. Of those the library keeps one.
func repeated(before []metav1.ManagedFieldsEntry, entry *metav1.ManagedFieldsEntry) bool {
	for i := range before {
		if before[i].Manager == entry.Manager && before[i].Operation == entry.Operation && before[i].Subresource == entry.Subresource {
			return true
		}
	}
	return false
}

// read gives what the entry owns, nil if the entry is anything but a plain one of this version.
func (r *renewals) read(entry *metav1.ManagedFieldsEntry) *owned {
	if entry.Operation != metav1.ManagedFieldsOperationUpdate && entry.Operation != metav1.ManagedFieldsOperationApply ||
		entry.APIVersion != leaseVersion || entry.FieldsType != "FieldsV1" || entry.FieldsV1 == nil ||
		!utf8.ValidString(entry.Manager) || !utf8.ValidString(entry.Subresource) {
		return nil
	}
	text := entry.FieldsV1.GetRawBytes()
	if len(text) > maxText {
		return parse(text)
	}
	r.mu.RLock()
	fields, known := r.recent[string(text)]
	if known {
		r.mu.RUnlock()
		return fields
	}
	fields, known = r.older[string(text)]
	r.mu.RUnlock()
	if !known {
		fields = parse(text)
	}
	r.remember(string(text), fields)
	return fields
}

func (r *renewals) remember(text string, fields *owned) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.recent) >= remembered {
		r.recent, r.older = make(map[string]*owned, remembered), r.recent
	}
	r.recent[text] = fields
}

// parse reads a text with the library. It returns nil for what cannot be read, for the empty set, and for sets with
// paths that no Lease of this version has: the library may rewrite those.
func parse(text []byte) *owned {
	set := &fieldpath.Set{}
	if err := set.FromJSON(bytes.NewReader(text)); err != nil || !utf8.Valid(text) {
		return nil
	}
	written, err := set.ToJSON()
	if err != nil || set.Empty() || set.Members.Size() > 0 {
		return nil
	}
	fields := &owned{}
	if !bytes.Equal(written, text) {
		fields.written = metav1.NewFieldsV1(string(written))
	}
	for _, top := range childrenOf(set) {
		children, _ := set.Children.Get(top)
		plain := false
		switch name(top) {
		case "metadata":
			plain = plainMetadata(children)
		case "spec":
			fields.spec, plain = plainSpec(children)
		}
		if !plain {
			return nil
		}
	}
	return fields
}

func plainSpec(set *fieldpath.Set) (fields specField, plain bool) {
	for member := range set.Members.All() {
		field := specFields[name(member)]
		if field == 0 {
			return 0, false
		}
		fields |= field
	}
	return fields, set.Children.Empty()
}

// plainMetadata accepts the metadata that has owners, down to the keys of its maps and lists and no further.
func plainMetadata(set *fieldpath.Set) bool {
	for member := range set.Members.All() {
		if !slices.Contains([]string{"labels", "annotations", "finalizers", "ownerReferences", "generateName"}, name(member)) {
			return false
		}
	}
	for _, child := range childrenOf(set) {
		grandchildren, _ := set.Children.Get(child)
		if !slices.Contains([]string{"labels", "annotations", "finalizers", "ownerReferences"}, name(child)) ||
			!grandchildren.Children.Empty() {
			return false
		}
	}
	return true
}

// childrenOf lists them all first: the library's iterator panics in a loop that is left before its end.
func childrenOf(set *fieldpath.Set) []fieldpath.PathElement {
	return slices.Collect(set.Children.All())
}

func name(element fieldpath.PathElement) string {
	if element.FieldName == nil {
		return ""
	}
	return *element.FieldName
}

var specFields = map[string]specField{
	"holderIdentity":       holderIdentity,
	"leaseDurationSeconds": leaseDurationSeconds,
	"acquireTime":          acquireTime,
	"renewTime":            renewTime,
	"leaseTransitions":     leaseTransitions,
	"strategy":             strategy,
	"preferredHolder":      preferredHolder,
}
