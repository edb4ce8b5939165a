package object

import (
	"math/rand"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/randfill"
)

// A field that Kubernetes adds must be added to the comparison, or writes of it would be lost as no-ops.
func TestComparisonKnowsAllFields(t *testing.T) {
	assert.Equal(t, 15, reflect.TypeFor[metav1.ObjectMeta]().NumField())
	assert.Equal(t, 6, reflect.TypeFor[metav1.OwnerReference]().NumField())
	assert.Equal(t, 7, reflect.TypeFor[metav1.ManagedFieldsEntry]().NumField())
}

// Changing any one leaf of the metadata is seen exactly when the general comparison sees it.
func TestComparisonIsThatOfReflection(t *testing.T) {
	fill := randfill.NewWithSeed(7).NilChance(0.3).NumElements(0, 2).Funcs(
		func(m *metav1.Time, c randfill.Continue) { m.Time = time.Unix(c.Int63n(4), 0).UTC() },
	)
	random := rand.New(rand.NewSource(7))
	for range 2000 {
		current, other := new(metav1.ObjectMeta), new(metav1.ObjectMeta)
		fill.Fill(current)
		fill.Fill(other)
		next := current.DeepCopy()
		require.True(t, SameMetadata(next, current))

		to, from := reflect.ValueOf(next).Elem(), reflect.ValueOf(other).Elem()
		at := random.Intn(to.NumField())
		to.Field(at).Set(from.Field(at))
		a, b := *next, *current
		a.ManagedFields, b.ManagedFields, a.ResourceVersion, b.ResourceVersion = nil, nil, "", ""
		assert.Equal(t, equality.Semantic.DeepEqual(a, b), SameMetadata(next, current), "%v\n%v", a, b)
	}
}
