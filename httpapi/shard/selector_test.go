package shard

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/sharding"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

// drawPartition draws a way to cut all hashes into shards of one or more ranges.
func drawPartition(t *rapid.T, field string) []*Selector {
	cuts := rapid.SliceOfNDistinct(rapid.Uint64Range(1, 1<<64-1), 0, 12, rapid.ID[uint64]).Draw(t, "cuts")
	slices.Sort(cuts)
	bounds := []string{"0x0000000000000000"}
	for _, cut := range cuts {
		bounds = append(bounds, fmt.Sprintf("0x%016x", cut))
	}
	bounds = append(bounds, top)
	count := rapid.IntRange(1, len(bounds)-1).Draw(t, "shards")
	parts := make([][]string, count)
	for i := range len(bounds) - 1 {
		owner := i // each has one at least
		if i >= count {
			owner = rapid.IntRange(0, count-1).Draw(t, "owner")
		}
		parts[owner] = append(parts[owner], fmt.Sprintf("shardRange(%s, '%s', '%s')", field, bounds[i], bounds[i+1]))
	}
	var selectors []*Selector
	for _, part := range parts {
		selector, err := Parse(strings.Join(part, " || "))
		require.NoError(t, err)
		selectors = append(selectors, selector)
	}
	return selectors
}

func TestShardsOfAPartitionCoverEachObjectExactlyOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		field := rapid.SampledFrom([]string{"object.metadata.uid", namespaceField}).Draw(t, "field")
		shards := drawPartition(t, field)
		for range 20 {
			namespace, uid := rapid.String().Draw(t, "namespace"), rapid.String().Draw(t, "uid")
			held := 0
			for _, shard := range shards {
				if shard.Selects(namespace, uid) {
					held++
				}
			}
			assert.Equal(t, 1, held)
		}
	})
}

func TestSelectsWhatTheLibrarySelects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		field := rapid.SampledFrom([]string{"object.metadata.uid", namespaceField}).Draw(t, "field")
		for _, shard := range drawPartition(t, field) {
			requirements, err := requirements(shard.String())
			require.NoError(t, err)
			library := sharding.NewSelector(requirements...)
			object := &metav1.PartialObjectMetadata{}
			object.Namespace, object.UID = rapid.String().Draw(t, "namespace"), types.UID(rapid.String().Draw(t, "uid"))
			want, err := library.Matches(object)
			require.NoError(t, err)
			assert.Equal(t, want, shard.Selects(object.Namespace, string(object.UID)))
		}
	})
}

func TestRangesBeginAtTheirStartAndEndBeforeTheirEnd(t *testing.T) {
	const uid = "0c1c2a5e-0000-4000-8000-000000000001"
	hash := fnv1a(uid)
	holds := func(start, end uint64) bool {
		selector, err := Parse(fmt.Sprintf("shardRange(object.metadata.uid, '0x%016x', '0x%016x')", start, end))
		require.NoError(t, err)
		return selector.Selects("ns", uid)
	}
	assert.True(t, holds(hash, hash+1))
	assert.False(t, holds(hash-1, hash))
	assert.False(t, holds(hash+1, hash+2))
}

// FuzzParse looks for selectors that panic, or whose canonical form means something else.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{lower, upper, named, lower + " || " + upper, "garbage", "x." + lower, `r'\'`, "'''", "//"} {
		f.Add(seed, "ns", "uid")
	}
	f.Fuzz(func(t *testing.T, text, namespace, uid string) {
		selector, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(selector.String())
		require.NoError(t, err)
		assert.Equal(t, selector, again)
		assert.Equal(t, selector.Selects(namespace, uid), again.Selects(namespace, uid))
	})
}
