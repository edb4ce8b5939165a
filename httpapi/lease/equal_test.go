package lease_test

import (
	"testing"
	"time"

	"github.com/leasehold/leasehold/httpapi/lease"
	"github.com/stretchr/testify/assert"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestEqual(t *testing.T) {
	type lse = coordinationv1.Lease
	entry := func(seconds int64, manager string) func(*lse) {
		return func(l *lse) {
			at := metav1.Unix(seconds, 0)
			l.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: manager, Time: &at, FieldsV1: metav1.NewFieldsV1(`{}`)}}
		}
	}
	renewed := func(at time.Time) func(*lse) {
		return func(l *lse) { l.Spec.RenewTime = &metav1.MicroTime{Time: at} }
	}
	for name, c := range map[string]struct {
		next, current func(*lse)
		equal         bool
	}{
		"same":                       {nil, nil, true},
		"another version":            {func(l *lse) { l.ResourceVersion = "9" }, nil, true},
		"kind filled in":             {func(l *lse) { l.Kind = "Lease" }, nil, true},
		"empty and absent labels":    {func(l *lse) { l.Labels = map[string]string{} }, nil, true},
		"empty and absent finalizer": {func(l *lse) { l.Finalizers = []string{} }, nil, true},
		"same instant, other zone":   {renewed(now), renewed(now.UTC()), true},
		"a microsecond later":        {renewed(now.Add(time.Microsecond)), renewed(now), false},
		"zero time and none":         {renewed(time.Time{}), nil, false},
		"empty and absent holder":    {func(l *lse) { l.Spec.HolderIdentity = ptr.To("") }, nil, false},
		"label":                      {func(l *lse) { l.Labels = map[string]string{"k": "v"} }, nil, false},
		"entry written later":        {entry(2, "m"), entry(1, "m"), true},
		"entry of another manager":   {entry(1, "n"), entry(1, "m"), false},
		"entry gone":                 {nil, entry(1, "m"), false},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.equal, lease.Equal(valid(c.next), valid(c.current)))
			assert.Equal(t, c.equal, lease.Equal(valid(c.current), valid(c.next)))
		})
	}
}
