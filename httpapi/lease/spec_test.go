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
}

// Changing any one leaf of a spec is seen exactly when the general comparison sees it.
func TestComparisonIsThatOfReflection(t *testing.T) {
	fill := randfill.NewWithSeed(7).NilChance(0.3).Funcs(
		func(m *metav1.MicroTime, c randfill.Continue) { m.Time = time.UnixMicro(c.Int63n(4)).UTC() },
	)
	random := rand.New(rand.NewSource(7))
	for range 2000 {
		current, other := new(coordinationv1.LeaseSpec), new(coordinationv1.LeaseSpec)
		fill.Fill(current)
		fill.Fill(other)
		next := current.DeepCopy()
		require.True(t, sameSpec(next, current))

		to, from := reflect.ValueOf(next).Elem(), reflect.ValueOf(other).Elem()
		at := random.Intn(to.NumField())
		to.Field(at).Set(from.Field(at))
		assert.Equal(t, equality.Semantic.DeepEqual(*next, *current), sameSpec(next, current))
	}
}
