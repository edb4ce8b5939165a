package workload_test

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/jepsen/history"
	"github.com/leasehold/leasehold/jepsen/workload"
)

// unkind does a part of what is asked, and answers a part of that.
func unkind() *fake {
	f := newFake()
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(1, 2))
	began := time.Now()
	f.fault = func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) bool {
		mu.Lock()
		n := rng.IntN(100)
		mu.Unlock()
		write := r.Method != "GET"
		switch {
		case time.Since(began) > 8*time.Second || strings.HasPrefix(r.URL.Path, "/api/v1"):
			return false
		case write && n < 4: // done, and never told
			serve(&pipeWriter{header: make(http.Header), body: discarding(), began: make(chan struct{})}, r)
			<-r.Context().Done()
			return true
		case write && n < 8: // neither
			refuse(w, 504, "Timeout")
			return true
		case n < 10:
			w.Header().Set("Retry-After", "1")
			refuse(w, 503, "ServiceUnavailable")
			return true
		case r.URL.Query().Get("watch") != "" && n < 40:
			refuse(w, 410, "Expired")
			return true
		}
		return false
	}
	return f
}

func TestUnknownOutcomesAreResolvedByWatchesOfTheWholeStore(t *testing.T) {
	h := lived(t, unkind, 10*time.Second, "register", "watch")
	n := kinds(h)
	assert.NotZero(t, n["watch fail"])
	last, final := uint64(0), int64(0)
	seen := make(map[string]bool) // IDs that watches of everything saw
	used := make(map[string]bool) // names of processes that are used up
	unknown := make(map[string]int64)
	ids := make(map[string]bool)
	for _, op := range h.Operations {
		require.False(t, used[op.Process], "%s was used up", op.Process)
		used[op.Process] = op.Outcome == history.Info
		if id := op.Request.ID; id != "" && !op.Request.Same {
			require.False(t, ids[id], "%s names two writes", id)
			ids[id] = true
		}
		if op.Outcome == history.Info {
			unknown[op.Request.ID] = op.Settled
		}
		if strings.HasPrefix(op.Request.ID, "final") && op.Outcome == history.OK {
			last, final = op.Answer.Version.Revision, op.Invoked
		}
	}
	require.NotEmpty(t, unknown)
	require.NotZero(t, last)
	for id, settled := range unknown {
		assert.GreaterOrEqual(t, final-settled, (5 * time.Second).Nanoseconds(), "%s may still be done", id)
	}
	reached := make(map[string]uint64)
	for _, s := range h.Streams {
		if !strings.HasPrefix(s.Process, "observer-") {
			continue
		}
		for _, c := range s.Changes {
			if c.Version != nil {
				reached[s.Process] = max(reached[s.Process], c.Version.Revision)
				seen[c.Version.ID] = true
			}
		}
	}
	assert.Len(t, reached, 6, "two on each node")
	for process, revision := range reached {
		assert.GreaterOrEqual(t, revision, last, process)
	}
	done := 0
	for id := range unknown {
		if seen[id] {
			done++
		}
	}
	assert.NotZero(t, done, "some were done")
	assert.Less(t, done, len(unknown), "and some not")
}

func TestAnElementAppendedTwiceShows(t *testing.T) {
	h := lived(t, func() *fake {
		f := newFake()
		f.fault = func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) bool {
			if r.Header.Get("Content-Type") == "application/json-patch+json" {
				body := copied(r)
				serve(&pipeWriter{header: make(http.Header), body: discarding(), began: make(chan struct{})}, r)
				r.Body = body()
			}
			return false
		}
		return f
	}, 5*time.Second, "append")
	for _, op := range h.Operations {
		if op.F != history.Patch || op.Outcome != history.OK || !op.Request.Blind {
			continue
		}
		n := 0
		for _, element := range op.Answer.Version.Elements {
			if element == op.Request.Append {
				n++
			}
		}
		require.Equal(t, 2, n)
		return
	}
	require.Fail(t, "nothing was appended by a patch")
}

func TestNamespacesAreMadeWhereTheyMustBeAndRemovedAgain(t *testing.T) {
	var mu sync.Mutex
	there := make(map[string]bool)
	asked := 0
	lived(t, func() *fake {
		f := newFake()
		f.fault = func(w http.ResponseWriter, r *http.Request, _ http.HandlerFunc) bool {
			mu.Lock()
			defer mu.Unlock()
			name, about := strings.CutPrefix(r.URL.Path, "/api/v1/namespaces")
			name = strings.TrimPrefix(name, "/")
			switch {
			case !about:
				return false
			case r.Method == "POST":
				asked++
				there[named(r)] = true
				answer(w, 201, map[string]any{})
			case r.Method == "DELETE":
				delete(there, name)
				answer(w, 200, map[string]any{})
			case there[name] || name == "t-append-1":
				answer(w, 200, map[string]any{})
			default:
				refuse(w, 404, "NotFound")
			}
			return true
		}
		return f
	}, time.Second, "append")
	assert.Equal(t, 2, asked, "what is there is not made")
	assert.Empty(t, there)
}

func TestABurstIsManyTimesTheUsual(t *testing.T) {
	n := 0
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		var o workload.Options
		o.Recorder = history.NewRecorder(io.Discard, func(e history.Event) {
			if e.Type == history.Invoke && strings.HasPrefix(e.Process, "burst") {
				n++
			}
		})
		o.Rate, o.Clients, o.Prefix, o.Endpoints = 20, 5, "t", nodes(f)
		w, err := workload.New(o, "register")
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		var all sync.WaitGroup
		all.Go(func() { assert.NoError(t, w.Run(ctx)) })
		burst, end := context.WithTimeout(ctx, 5*time.Second)
		defer end()
		require.NoError(t, w.Burst(burst, 20))
		all.Wait()
	})
	assert.InDelta(t, 20*20*5, n, 200)
}
