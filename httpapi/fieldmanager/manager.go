package fieldmanager

import (
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
)

// Manager keeps the managedFields of Leases. It is safe for concurrent use.
type Manager struct {
	general  *managedfields.FieldManager
	renewals *renewals
}

// New reads the schema of Leases, which takes some milliseconds: one Manager serves a process.
func New() (*Manager, error) {
	scheme := runtime.NewScheme()
	if err := coordinationv1.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("field manager: %w", err)
	}
	general, err := managedfields.NewDefaultFieldManager(
		applyconfigurations.NewTypeConverter(scheme), converter{}, converter{}, converter{}, leaseKind, version, "", nil)
	if err != nil {
		return nil, fmt.Errorf("field manager: %w", err)
	}
	return &Manager{general: general, renewals: newRenewals()}, nil
}

// Update sets the managedFields of next, which a create (current is nil), update or patch by manager is about to store.
// What next carries there is taken for the client's: nil or undecodable entries stand for those of current, an empty
// list or a single empty entry clears all. Fields that did not change keep their owners and times, and an object that
// nobody owns a field of (created with none, or cleared) is not tracked until it is applied to.
//
// It belongs before lease.PrepareUpdate and after everything that changes fields of the client's.
func (m *Manager) Update(current, next *coordinationv1.Lease, manager string, now time.Time) {
	if current != nil && m.renewals.answer(current, next, manager, now) {
		return
	}
	m.update(current, next, manager, now)
}

// update asks the library.
func (m *Manager) update(current, next *coordinationv1.Lease, manager string, now time.Time) {
	if current == nil {
		current = &coordinationv1.Lease{}
	}
	known := times(current.ManagedFields, next.ManagedFields)
	if _, err := m.general.Update(current, next, manager); err != nil {
		// What cannot be tracked is stored nevertheless, under the owners known before. The server does the same.
		next.ManagedFields = current.ManagedFields
		return
	}
	stamp(next.ManagedFields, known, now)
}

// Apply merges the applied configuration in body, YAML or JSON, into current, or makes a new Lease of it where current
// is nil. It returns a new object whose name, uid and version are the caller's to check. An apply that changes nothing
// gives an object equal to current, its times included. FieldValidation decides about repeated keys alone: other
// problems of the body are errors whatever it says.
//
// The error is ErrMalformed, ErrTooManyEntries, a *Conflict, or one of neither kind, which the server answers with 500.
func (m *Manager) Apply(current *coordinationv1.Lease, body []byte, manager string, force bool, fieldValidation string, now time.Time) (next *coordinationv1.Lease, warnings []string, err error) {
	if current == nil {
		current = &coordinationv1.Lease{}
	}
	config, err := decode(body)
	if err != nil {
		return nil, nil, err
	}
	if err := TreeFits(config.Object); err != nil {
		return nil, nil, err
	}
	known := times(current.ManagedFields)
	merged, err := m.general.Apply(current, config, manager, force)
	if err != nil {
		return nil, nil, applyError(err)
	}
	next, ok := merged.(*coordinationv1.Lease)
	if !ok {
		return nil, nil, fmt.Errorf("apply: got %T, want a Lease", merged)
	}
	next.TypeMeta = metav1.TypeMeta{}
	stamp(next.ManagedFields, known, now)

	warnings, err = repeatedKeys(body, fieldValidation)
	if err != nil {
		return nil, nil, err
	}
	return next, warnings, nil
}
