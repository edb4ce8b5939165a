package fieldmanager_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/leasehold/leasehold/httpapi/fieldmanager"
	"github.com/leasehold/leasehold/httpapi/lease"
	"github.com/leasehold/leasehold/httpapi/media"
	"github.com/leasehold/leasehold/httpapi/object"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var start = time.Date(2026, 3, 4, 5, 6, 7, 890_000_000, time.UTC)

// desk is a field manager with a clock of its own, which goes on a minute with each write.
type desk struct {
	t       *testing.T
	manager *fieldmanager.Manager
	now     time.Time
}

func open(t *testing.T) *desk {
	manager, err := fieldmanager.New(lease.Kind)
	require.NoError(t, err)
	return &desk{t: t, manager: manager, now: start}
}

func (d *desk) tick() time.Time {
	d.now = d.now.Add(time.Minute)
	return d.now
}

// stored is what the verbs do to an object after the field manager has seen it.
func stored(l *coordinationv1.Lease) *coordinationv1.Lease {
	l.UID = "u"
	return l
}

func (d *desk) create(manager string, change func(*coordinationv1.Lease)) *coordinationv1.Lease {
	next := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}}
	change(next)
	d.manager.Update(nil, next, manager, d.tick())
	return stored(next)
}

func (d *desk) update(current *coordinationv1.Lease, manager string, change func(*coordinationv1.Lease)) *coordinationv1.Lease {
	before := current.DeepCopy()
	next := current.DeepCopy()
	change(next)
	d.manager.Update(current, next, manager, d.tick())
	require.Equal(d.t, before, current, "current is not touched")
	return next
}

func (d *desk) apply(current *coordinationv1.Lease, manager, body string, force bool) (*coordinationv1.Lease, error) {
	before := current.DeepCopy()
	var present object.Object
	if current != nil {
		present = current
	}
	body = `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"a","namespace":"ns"` + body + `}`
	next, _, err := d.manager.Apply(present, []byte(body), media.YAML, manager, force, "", d.tick())
	require.Equal(d.t, before, current, "current is not touched")
	if err != nil {
		return nil, err
	}
	return stored(next.(*coordinationv1.Lease)), nil
}

func (d *desk) mustApply(current *coordinationv1.Lease, manager, body string) *coordinationv1.Lease {
	next, err := d.apply(current, manager, body, false)
	require.NoError(d.t, err)
	return next
}

// owners renders managedFields, an entry a line: manager, operation, minute of the last write, fields.
func owners(l *coordinationv1.Lease) []string {
	out := []string{}
	for _, e := range l.ManagedFields {
		minute := "never"
		if e.Time != nil {
			minute = fmt.Sprint(int(e.Time.Sub(start.Truncate(time.Second)).Minutes()))
		}
		out = append(out, fmt.Sprintf("%s %s %s %s", e.Manager, e.Operation, minute, e.FieldsV1.GetRawString()))
	}
	return out
}
