package sim

import (
	"bytes"
	"context"
	"io"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/jepsen/check"
	"github.com/leasehold/leasehold/jepsen/history"
)

// asCommand makes the test's binary be like the harness's: a process in which no test runs.
const asCommand = "LEASEHOLD_SIM_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) == "" {
		os.Exit(m.Run())
	}
	r, err := Run(context.Background(), Options{Seed: 1, Hours: 1.0 / 30, Nodes: 3})
	if err != nil {
		_, _ = os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
	_, _ = os.Stdout.WriteString(r.Sentence)
	os.Exit(0)
}

func TestSomeMinutesPass(t *testing.T) {
	var kept bytes.Buffer
	r, err := run(t.Context(), t, Options{Seed: 1, Hours: 0.2, Bubble: 6 * time.Minute, Keep: func(b Bubble, lines func(io.Writer) error) error {
		kept.Reset()
		return lines(&kept)
	}})
	require.NoError(t, err)
	assert.Equal(t, check.Pass, r.Verdict, r.Sentence)
	assert.Equal(t, 2, r.Bubbles)
	assert.Greater(t, r.Simulated, 12*time.Minute)
	assert.Greater(t, r.Operations, 500)
	assert.Greater(t, r.Events, 500)
	assert.Greater(t, len(r.Faults), 5)
	assert.Positive(t, r.Elections)
	assert.Positive(t, r.Restarts)

	h, err := history.Read(&kept)
	require.NoError(t, err)
	assert.NotEmpty(t, h.Operations)
	assert.NotEmpty(t, h.Streams)
}
