package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The gates of kube-apiserver that mean something here. Both are alpha there, and off.
const (
	gateShards = "ShardedListAndWatch"
	gateCBOR   = "CBORServingAndStorage"
)

// gateAllAlpha stands for every alpha gate that is not named itself.
const gateAllAlpha = "AllAlpha"

var knownGates = []string{gateAllAlpha, gateCBOR, gateShards}

// featureGates is a flag in the form that kube-apiserver knows: Gate=true,Other=false. Given again it adds to what was
// given before.
type featureGates map[string]bool

// enabled says whether a gate is on.
func (g featureGates) enabled(name string) bool {
	on, given := g[name]
	return on || !given && g[gateAllAlpha]
}

// Set implements pflag.Value. A gate that does not exist here is an error: whoever asks for it would wait for its effect in
// vain.
func (g *featureGates) Set(text string) error {
	next := maps.Clone(*g)
	if next == nil {
		next = featureGates{}
	}
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, found := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		if !slices.Contains(knownGates, name) {
			return fmt.Errorf("unrecognized feature gate: %s; there are %s", name, strings.Join(knownGates, ", "))
		}
		on, err := strconv.ParseBool(strings.TrimSpace(value))
		if !found || err != nil {
			return fmt.Errorf("%s: %q is neither true nor false", name, strings.TrimSpace(value))
		}
		next[name] = on
	}
	*g = next
	return nil
}

// String implements pflag.Value.
func (g *featureGates) String() string {
	pairs := make([]string, 0, len(*g))
	for name, on := range *g {
		pairs = append(pairs, fmt.Sprintf("%s=%t", name, on))
	}
	slices.Sort(pairs)
	return strings.Join(pairs, ",")
}

// Type implements pflag.Value.
func (g *featureGates) Type() string { return "Gate=bool,..." }
