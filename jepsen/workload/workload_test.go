package workload_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/jepsen/history"
	"github.com/leasehold/leasehold/jepsen/workload"
)

// lived runs workloads against a fake for some simulated time, and returns what they recorded.
func lived(t *testing.T, server func() *fake, span time.Duration, names ...string) *history.History {
	t.Helper()
	var file bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		f := server()
		o := workload.Options{Recorder: history.NewRecorder(&file, nil), Seed: 7, Rate: 200, Clients: 10, Prefix: "t", Endpoints: nodes(f)}
		w, err := workload.New(o, names...)
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), span)
		defer cancel()
		require.NoError(t, w.Run(ctx))
		require.NoError(t, o.Recorder.Flush())
		assert.NoError(t, w.Cleanup(t.Context()))
	})
	h, err := history.Read(&file)
	require.NoError(t, err)
	return h
}

// nodes are three doors to one server.
func nodes(f *fake) []workload.Endpoint {
	var all []workload.Endpoint
	for n := range 3 {
		all = append(all, workload.Endpoint{Node: fmt.Sprintf("node-%d", n+1), URL: "http://fake", Client: &http.Client{Transport: direct{f}}})
	}
	return all
}

// kinds counts operations by what they are and how they ended.
func kinds(h *history.History) map[string]int {
	n := make(map[string]int)
	for _, op := range h.Operations {
		n[op.F+" "+string(op.Outcome)]++
	}
	for _, s := range h.Streams {
		n["watch "+string(s.Outcome)]++
	}
	return n
}

func TestEachWorkloadDoesAllThatItIsFor(t *testing.T) {
	for name, wanted := range map[string][]string{
		"register": {"get ok", "get fail", "create ok", "create fail", "update ok", "update fail", "put ok", "put fail", "patch ok", "patch fail",
			"delete ok", "delete fail"},
		"list":      {"list ok", "create ok", "update ok", "patch ok"},
		"watch":     {"watch ok", "update ok", "list ok"},
		"append":    {"create ok", "update ok", "patch ok", "get ok"},
		"generate":  {"create ok", "delete ok", "create fail", "delete fail"},
		"heartbeat": {"create ok", "update ok"},
		"election":  {"create ok", "update ok", "get ok"},
		"mixed":     {"get ok", "create ok", "update ok", "put ok", "patch ok", "delete ok", "list ok", "watch ok"},
	} {
		t.Run(name, func(t *testing.T) {
			span := 5 * time.Second
			if name == "heartbeat" || name == "election" {
				span = 12 * time.Second
			}
			h := lived(t, newFake, span, name)
			n := kinds(h)
			t.Log(n)
			for _, kind := range wanted {
				assert.NotZero(t, n[kind], kind)
			}
			for _, op := range h.Operations {
				assert.NotEqual(t, history.Info, op.Outcome, "%s by %s", op.F, op.Process)
				if op.Answer != nil {
					assert.Empty(t, op.Answer.Malformed)
				}
			}
		})
	}
}
