package fieldmanager

import (
	"fmt"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"

	"github.com/leasehold/leasehold/httpapi/media"
	"github.com/leasehold/leasehold/httpapi/object"
)

// Manager keeps the managedFields that requests in one version of a kind set. It is safe for concurrent use.
type Manager struct {
	kind     object.Kind
	general  *managedfields.FieldManager
	renewals *renewals
}

// New reads the schema of a kind, which takes some milliseconds: one Manager serves a process.
func New(kind object.Kind) (*Manager, error) {
	scheme := runtime.NewScheme()
	for _, version := range kind.Versions {
		scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: kind.Group, Version: version, Kind: kind.Kind}, kind.New())
	}
	c := converter{kind}
	general, err := managedfields.NewDefaultFieldManager(
		applyconfigurations.NewTypeConverter(scheme), c, c, c, kind.GroupVersionKind, kind.GroupVersion(), "", nil)
	if err != nil {
		return nil, fmt.Errorf("field manager: %w", err)
	}
	return &Manager{kind: kind, general: general, renewals: newRenewals()}, nil
}

// Update sets the managedFields of next, which a create (current is nil), update or patch by manager is about to store.
// What next carries there is taken for the client's: nil or undecodable entries stand for those of current, an empty
// list or a single empty entry clears all. Fields that did not change keep their owners and times, and an object that
// nobody owns a field of (created with none, or cleared) is not tracked until it is applied to.
//
// It belongs before object.PrepareUpdate and after everything that changes fields of the client's.
func (m *Manager) Update(current, next object.Object, manager string, now time.Time) {
	if current != nil && m.renewals.answer(current, next, manager, now) {
		return
	}
	m.update(current, next, manager, now)
}

// update asks the library.
func (m *Manager) update(current, next object.Object, manager string, now time.Time) {
	if current == nil {
		current = m.kind.New()
	}
	if !areText(next.GetManagedFields()) {
		next.SetManagedFields(nil)
	}
	known := times(current.GetManagedFields(), next.GetManagedFields())
	if _, err := m.general.Update(current, next, manager); err != nil || !areText(next.GetManagedFields()) {
		// What cannot be tracked is stored nevertheless, under the owners known before. The server does the same.
		next.SetManagedFields(current.GetManagedFields())
		return
	}
	stamp(next.GetManagedFields(), known, now)
}

// Apply merges the applied configuration in body, YAML (which JSON is, too) or CBOR, into current, or makes a new object of it where current
// is nil. It returns a new object whose name, uid and version are the caller's to check. An apply that changes nothing
// gives an object equal to current, its times included. FieldValidation decides about repeated keys alone: other
// problems of the body are errors whatever it says.
//
// The error is ErrMalformed, ErrTooManyEntries, a *Conflict, or one of neither kind, which the server answers with 500.
func (m *Manager) Apply(current object.Object, body []byte, encoding media.Encoding, manager string, force bool, fieldValidation string, now time.Time) (next object.Object, warnings []string, err error) {
	if current == nil {
		current = m.kind.New()
	}
	config, err := decode(body, encoding)
	if err != nil {
		return nil, nil, err
	}
	if err := TreeFits(config.Object); err != nil {
		return nil, nil, err
	}
	m.kind.TimesInTree(config.Object)
	known := times(current.GetManagedFields())
	merged, err := m.general.Apply(current, config, manager, force)
	if err != nil {
		return nil, nil, applyError(err)
	}
	next, ok := merged.(object.Object)
	if !ok {
		return nil, nil, fmt.Errorf("apply: got %T, want a %s", merged, m.kind.Kind)
	}
	*object.Type(next) = metav1.TypeMeta{}
	stamp(next.GetManagedFields(), known, now)

	warnings, err = repeatedKeys(body, encoding, fieldValidation)
	if err != nil {
		return nil, nil, err
	}
	return next, warnings, nil
}

// areText says whether the entries' sets of fields are UTF-8. The library does not mind when they are not, but they are
// shown as they are, and then no answer that holds one is JSON, nor can it be YAML.
func areText(entries []metav1.ManagedFieldsEntry) bool {
	for i := range entries {
		if fields := entries[i].FieldsV1; fields != nil && !utf8.Valid(fields.GetRawBytes()) {
			return false
		}
	}
	return true
}
