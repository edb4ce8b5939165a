package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGatesAreOffUnlessSwitchedOn(t *testing.T) {
	for given, shards := range map[string]bool{
		"":                          false,
		"ShardedListAndWatch=true":  true,
		"ShardedListAndWatch=1":     true,
		"ShardedListAndWatch=false": false,
		"AllAlpha=true":             true,
		" AllAlpha = true , ShardedListAndWatch=false,": false,
	} {
		config, err := parse(t, []string{"--feature-gates", given}, nil, "")
		require.NoError(t, err, given)
		assert.Equal(t, shards, config.FeatureGates.enabled(gateShards), given)
	}
}

func TestGatesGivenTwiceAdd(t *testing.T) {
	config, err := parse(t, []string{"--feature-gates", "AllAlpha=true", "--feature-gates=ShardedListAndWatch=false"}, nil, "")
	require.NoError(t, err)
	assert.Equal(t, "AllAlpha=true,ShardedListAndWatch=false", config.FeatureGates.String())
}

func TestGatesMayStandInTheEnvironmentAndTheFile(t *testing.T) {
	config, err := parse(t, nil, map[string]string{"LEASEHOLD_FEATURE_GATES": "ShardedListAndWatch=true"}, "")
	require.NoError(t, err)
	assert.True(t, config.FeatureGates.enabled(gateShards))

	config, err = parse(t, nil, nil, "feature-gates:\n  ShardedListAndWatch: true\n")
	require.NoError(t, err)
	assert.True(t, config.FeatureGates.enabled(gateShards))
}

func TestUnknownGateIsAnError(t *testing.T) {
	_, err := parse(t, nil, map[string]string{"LEASEHOLD_FEATURE_GATES": "ShardedListAndWatch=true,Shards=true"}, "")
	require.ErrorContains(t, err, "LEASEHOLD_FEATURE_GATES: ")
	require.ErrorContains(t, err, "unrecognized feature gate: Shards; there are AllAlpha, ")
	_, err = parse(t, nil, nil, "feature-gates: ShardedListAndWatch=perhaps\n")
	require.ErrorContains(t, err, `ShardedListAndWatch: "perhaps" is neither true nor false`)
	_, err = parse(t, nil, nil, "feature-gates: ShardedListAndWatch\n")
	require.ErrorContains(t, err, `ShardedListAndWatch: "" is neither true nor false`)
}
