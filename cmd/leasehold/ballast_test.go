package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNoBallastForWhomeverSetsTheCollector(t *testing.T) {
	set := func(names ...string) func(string) (string, bool) {
		return func(asked string) (string, bool) {
			for _, name := range names {
				if name == asked {
					return "x", true
				}
			}
			return "", false
		}
	}
	require.Len(t, newBallast(set()), ballastBytes)
	require.Empty(t, newBallast(set("GOGC")))
	require.Empty(t, newBallast(set("GOMEMLIMIT")))
}
