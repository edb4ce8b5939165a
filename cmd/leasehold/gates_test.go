package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGatesAreOffUnlessSwitchedOn(t *testing.T) {
	for given, want := range map[string]struct{ shards, cbor bool }{
		"":                          {},
		"ShardedListAndWatch=true":  {shards: true},
		"CBORServingAndStorage=1":   {cbor: true},
		"ShardedListAndWatch=false": {},
		"AllAlpha=true":             {shards: true, cbor: true},
		" AllAlpha = true , ShardedListAndWatch=false,":       {cbor: true},
		"ShardedListAndWatch=true,CBORServingAndStorage=true": {shards: true, cbor: true},
	} {
		config, err := parse(t, []string{"--feature-gates", given}, nil, "")
		require.NoError(t, err, given)
		assert.Equal(t, want.shards, config.FeatureGates.enabled(gateShards), given)
		assert.Equal(t, want.cbor, config.FeatureGates.enabled(gateCBOR), given)
	}
}

func TestGatesGivenTwiceAdd(t *testing.T) {
	config, err := parse(t, []string{"--feature-gates", "AllAlpha=true", "--feature-gates=CBORServingAndStorage=false"}, nil, "")
	require.NoError(t, err)
	assert.Equal(t, "AllAlpha=true,CBORServingAndStorage=false", config.FeatureGates.String())
}

func TestGatesMayStandInTheEnvironmentAndTheFile(t *testing.T) {
	config, err := parse(t, nil, map[string]string{"LEASEHOLD_FEATURE_GATES": "CBORServingAndStorage=true"}, "")
	require.NoError(t, err)
	assert.True(t, config.FeatureGates.enabled(gateCBOR))

	config, err = parse(t, nil, nil, "feature-gates:\n  ShardedListAndWatch: true\n")
	require.NoError(t, err)
	assert.True(t, config.FeatureGates.enabled(gateShards))
}

func TestLenientTimesAreAFlagLikeOthers(t *testing.T) {
	config, err := parse(t, nil, nil, "")
	require.NoError(t, err)
	assert.False(t, config.LenientMicroTime)
	config, err = parse(t, nil, map[string]string{"LEASEHOLD_LENIENT_MICROTIME": "true"}, "")
	require.NoError(t, err)
	assert.True(t, config.LenientMicroTime)
}

func TestUnknownGateIsAnError(t *testing.T) {
	_, err := parse(t, nil, map[string]string{"LEASEHOLD_FEATURE_GATES": "ShardedListAndWatch=true,Shards=true"}, "")
	require.ErrorContains(t, err, "LEASEHOLD_FEATURE_GATES: ")
	require.ErrorContains(t, err, "unrecognized feature gate: Shards; there are AllAlpha, CBORServingAndStorage, ShardedListAndWatch")
	_, err = parse(t, nil, nil, "feature-gates: ShardedListAndWatch=perhaps\n")
	require.ErrorContains(t, err, `ShardedListAndWatch: "perhaps" is neither true nor false`)
	_, err = parse(t, nil, nil, "feature-gates: ShardedListAndWatch\n")
	require.ErrorContains(t, err, `ShardedListAndWatch: "" is neither true nor false`)
}
