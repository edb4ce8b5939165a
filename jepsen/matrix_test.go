package jepsen

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leasehold/leasehold/jepsen/nemesis"
)

func specs(m Matrix, n int) []Spec {
	var got []Spec
	m.Specs(func(s Spec) bool {
		got = append(got, s)
		return len(got) < n
	})
	return got
}

func TestAMatrixSeesEachKindAloneThenPairsThenAllWorkloads(t *testing.T) {
	m := Matrix{Seed: 7, Workloads: Workloads(), Singles: []string{"kill-one", "delay", "transfer"}, Pairs: []string{"kill-one+delay"}, Sizes: []int{3, 5}, Base: fine()}
	got := specs(m, 60)
	assert.Equal(t, got, specs(m, 60), "one seed, one plan")

	singles, pairs, workloads, sizes, seeds := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[int]bool{}, map[uint64]bool{}
	for i, s := range got {
		if i < 3 {
			assert.Len(t, s.Nemesis, 1)
			assert.Equal(t, []string{"mixed"}, s.Workloads)
			singles[s.Nemesis[0]] = true
		}
		for _, p := range s.Pairs {
			pairs[p] = true
		}
		workloads[s.Workloads[0]], sizes[s.Nodes] = true, true
		assert.False(t, seeds[s.Seed], "a seed is used twice")
		seeds[s.Seed] = true
	}
	assert.Len(t, singles, 3)
	assert.Len(t, pairs, 1)
	assert.Len(t, workloads, len(Workloads()))
	assert.Len(t, sizes, 2)
}

func TestAMatrixOfNothingEnds(t *testing.T) {
	assert.Empty(t, specs(Matrix{Sizes: []int{3}}, 5))
}

func TestTheUsualPairsAreManyAndOfKindsThatThereAre(t *testing.T) {
	pairs := UsualPairs()
	assert.GreaterOrEqual(t, len(pairs), 40)
	for _, pair := range pairs {
		assert.Equal(t, 1, strings.Count(pair, "+"))
		a, b, _ := strings.Cut(pair, "+")
		assert.NotEqual(t, a, b)
		assert.True(t, isKind(a) && isKind(b), pair)
	}
}

func isKind(name string) bool {
	for _, k := range nemesis.Kinds() {
		if k.Name == name {
			return true
		}
	}
	return false
}
