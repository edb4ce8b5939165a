package testbed_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/jepsen/nemesis"
	"github.com/leasehold/leasehold/jepsen/testbed"
)

func TestInstrumentedNodeIsToldWhereItsClockIsSet(t *testing.T) {
	t.Parallel()
	server := filepath.Join(t.TempDir(), "server")
	script := fmt.Sprintf("#!/bin/sh\n[ $1 = version ] && echo instrumented && exit\nexec %s \"$@\"\n", binary)
	require.NoError(t, os.WriteFile(server, []byte(script), 0o700))
	b := open(t, testbed.Options{Mode: testbed.Proxy, Nodes: 1, Binary: server})
	require.NoError(t, b.Supports(nemesis.CanSetClock))
	require.NoError(t, b.Clock("n1", 90*time.Minute))
	require.NoError(t, b.Clock("n1", -1500*time.Millisecond))

	pids := serversUnder(t, b.dir)
	require.Len(t, pids, 1)
	environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pids[0]))
	require.NoError(t, err)
	var file string
	for setting := range strings.SplitSeq(string(environment), "\x00") {
		if path, ok := strings.CutPrefix(setting, "LEASEHOLD_CLOCK_OFFSET_FILE="); ok {
			file = path
		}
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "-1.5s\n", string(text))
}
