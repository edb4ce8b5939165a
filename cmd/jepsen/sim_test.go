package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/jepsen"
	"github.com/leasehold/leasehold/jepsen/check"
	"github.com/leasehold/leasehold/jepsen/ledger"
	"github.com/leasehold/leasehold/jepsen/sim"
)

func TestASimulationIsOneLineOfTheLedger(t *testing.T) {
	book := filepath.Join(t.TempDir(), ledger.File)
	began := time.Unix(1_800_000_000, 0)
	r := sim.Result{Simulated: 3 * time.Hour, Took: time.Minute, Bubbles: 3, Operations: 12, Faults: map[string]int{"delay": 4, "wipe": 1},
		Verdict: check.Broken, Sentence: "FAIL seed 8: it was lost"}
	require.NoError(t, jepsen.EnterSimulationInLedger(book, simulation(began, 7, r)))

	entries, err := ledger.Read(book)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	e := entries[0]
	assert.Equal(t, ledger.Sim, e.Kind)
	assert.True(t, e.Time.Equal(began))
	assert.Equal(t, 10800.0, e.Simulated)
	assert.Equal(t, 60.0, e.Seconds)
	assert.Equal(t, 12, e.Operations)
	assert.Equal(t, r.Faults, e.Faults)
	assert.Equal(t, check.Broken, e.Verdict)
	assert.Equal(t, r.Sentence, e.Sentence)
	assert.EqualValues(t, 7, e.Seed)
	assert.Empty(t, e.Figures)
	assert.NotEmpty(t, e.Machine)
}
