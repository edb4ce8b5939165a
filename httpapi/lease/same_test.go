package lease

import (
	"math/rand"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/randfill"
)

// A field that Kubernetes adds must be added to the comparison, or writes of it would be lost as no-ops.
func TestComparisonKnowsAllFields(t *testing.T) {
	assert.Equal(t, 7, reflect.TypeFor[coordinationv1.LeaseSpec]().NumField())
	assert.Equal(t, 15, reflect.TypeFor[metav1.ObjectMeta]().NumField())
	assert.Equal(t, 6, reflect.TypeFor[metav1.OwnerReference]().NumField())
	assert.Equal(t, 7, reflect.TypeFor[metav1.ManagedFieldsEntry]().NumField())
}

// Changing any one leaf of a Lease is seen exactly when the general comparison sees it.
func TestComparisonIsThatOfReflection(t *testing.T) {
	fill := randfill.NewWithSeed(7).NilChance(0.3).NumElements(0, 2).Funcs(
		func(m *metav1.MicroTime, c randfill.Continue) { m.Time = time.UnixMicro(c.Int63n(4)).UTC() },
		func(m *metav1.Time, c randfill.Continue) { m.Time = time.Unix(c.Int63n(4), 0).UTC() },
	)
	random := rand.New(rand.NewSource(7))
	for range 2000 {
		current, other := new(coordinationv1.Lease), new(coordinationv1.Lease)
		fill.Fill(current)
		fill.Fill(other)
		next := current.DeepCopy()
		require.True(t, sameSpec(&next.Spec, &current.Spec))
		require.True(t, sameMetadata(&next.ObjectMeta, &current.ObjectMeta))

		for _, part := range []struct{ to, from any }{{&next.Spec, &other.Spec}, {&next.ObjectMeta, &other.ObjectMeta}} {
			to, from := reflect.ValueOf(part.to).Elem(), reflect.ValueOf(part.from).Elem()
			at := random.Intn(to.NumField())
			to.Field(at).Set(from.Field(at))
		}
		assert.Equal(t, equality.Semantic.DeepEqual(next.Spec, current.Spec), sameSpec(&next.Spec, &current.Spec))
		a, b := next.ObjectMeta, current.ObjectMeta
		a.ManagedFields, b.ManagedFields, a.ResourceVersion, b.ResourceVersion = nil, nil, "", ""
		assert.Equal(t, equality.Semantic.DeepEqual(a, b), sameMetadata(&next.ObjectMeta, &current.ObjectMeta), "%v\n%v", a, b)
	}
}
