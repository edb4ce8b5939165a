package report

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/jepsen/check"
	"github.com/leasehold/leasehold/jepsen/history"
)

// store is a store with two runs, one in progress, and a secret beside it.
func store(t *testing.T) string {
	outside := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o644))
	dir := filepath.Join(outside, "store")
	for i, name := range []string{"20261201T010000Z-b", "20261201T020000Z-a", "20261201T030000Z-running"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, name, "nodes", "node-1"), 0o755))
		var lines strings.Builder
		for range 200 {
			lines.WriteString(`{"i":1,"t":5,"p":"1","type":"probe"}` + "\n")
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, name, "history.jsonl"), []byte(lines.String()), 0o644))
		if i < 2 {
			run := someRun()
			run.Began = run.Began.Add(time.Duration(i) * time.Hour)
			verdict := check.Report{Verdict: []check.Verdict{check.Pass, check.Broken}[i], Sentence: "sentence of " + name + " <b>"}
			require.NoError(t, Write(filepath.Join(dir, name), &history.History{}, verdict, run))
		}
	}
	run := filepath.Join(dir, "20261201T010000Z-b")
	require.NoError(t, os.WriteFile(filepath.Join(run, "nodes", "node-1", "stderr.log"), []byte("<script>alert(1)</script>"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(run, ".hidden"), []byte("secret"), 0o644))
	require.NoError(t, os.MkdirAll(filepath.Join(run, "secrets", "n1"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(run, "secrets", "n1", "server.crt"), []byte("secret"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(run, "nodes", "node-1", "peer.key"), []byte("secret"), 0o644))
	require.NoError(t, os.Symlink(filepath.Join(outside, "secret"), filepath.Join(run, "link")))
	require.NoError(t, os.Symlink(outside, filepath.Join(run, "up")))
	return dir
}

func ask(t *testing.T, h http.Handler, target string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
	return w
}

func handler(t *testing.T) http.Handler {
	root, err := os.OpenRoot(store(t))
	require.NoError(t, err)
	t.Cleanup(func() { root.Close() })
	return Handler(root)
}

func TestTheNewestRunIsListedFirst(t *testing.T) {
	h := handler(t)
	page := ask(t, h, "/").Body.String()
	inOrder(t, page, "2026-12-01 03:03:04", "FAIL", "register,watch", "sentence of 20261201T020000Z-a &lt;b&gt;", "2026-12-01 02:03:04", "PASS")
	assert.Contains(t, page, "not judged yet")
	page = ask(t, h, "/?verdict=pass").Body.String()
	assert.Contains(t, page, "20261201T010000Z-b")
	assert.NotContains(t, page, "20261201T020000Z-a")
}

func TestFilesOfARunAreServed(t *testing.T) {
	h := handler(t)
	page := ask(t, h, "/runs/20261201T010000Z-b/")
	assert.Equal(t, "text/html; charset=utf-8", page.Header().Get("Content-Type"))
	assert.Contains(t, page.Body.String(), "Every promise held")
	assert.Equal(t, http.StatusFound, ask(t, h, "/runs/20261201T010000Z-b").Code)
	assert.Equal(t, "image/svg+xml", ask(t, h, "/runs/20261201T010000Z-b/lag.svg").Header().Get("Content-Type"))
	log := ask(t, h, "/runs/20261201T010000Z-b/nodes/node-1/stderr.log")
	assert.Equal(t, "text/plain; charset=utf-8", log.Header().Get("Content-Type"))
	assert.Equal(t, "nosniff", log.Header().Get("X-Content-Type-Options"))
	assert.Contains(t, ask(t, h, "/runs/20261201T010000Z-b/nodes/").Body.String(), "node-1/")
	lines := ask(t, h, "/runs/20261201T010000Z-b/history.jsonl?line=100").Body.String()
	assert.Contains(t, lines, `id="L60"`)
	assert.Contains(t, lines, `id="L100" class="here"`)
	assert.NotContains(t, lines, `id="L59"`)
	assert.NotContains(t, lines, `id="L141"`)
}

func TestNothingOutsideOfTheStoreIsServed(t *testing.T) {
	h := handler(t)
	for _, target := range []string{
		"/runs/20261201T010000Z-b/link", "/runs/20261201T010000Z-b/up/", "/runs/20261201T010000Z-b/up/secret", "/runs/20261201T010000Z-b/.hidden",
		"/runs/20261201T010000Z-b/secrets/", "/runs/20261201T010000Z-b/secrets/n1/server.crt", "/runs/20261201T010000Z-b/nodes/node-1/peer.key",
		"/runs/..%2fsecret", "/runs/%2e%2e/secret", "/runs/../../secret", "/runs/..", "/runs/20261201T010000Z-b/..%2f..%2fsecret", "/runs//etc/passwd", "/runs/%2fetc%2fpasswd",
		"/runs/20261201T010000Z-b/nodes/..%5c..%5csecret", "/runs/", "/runs/.", "/secret", "/runs/20261201T010000Z-b/lag.svg%00",
	} {
		w := ask(t, h, target)
		assert.NotEqual(t, http.StatusOK, w.Code, target)
		assert.NotEqual(t, "secret", w.Body.String(), target)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPut, "/runs/20261201T010000Z-b/lag.svg", strings.NewReader("x")))
	assert.Equal(t, http.StatusMethodNotAllowed, w.Code)
}

func TestServeIsOnLoopbackUntilItsContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	url := make(chan string, 1)
	done := make(chan error, 1)
	dir := store(t)
	go func() { done <- Serve(ctx, dir, ":0", func(at string) { url <- at }) }()
	var at string
	select {
	case at = <-url:
	case err := <-done:
		require.NoError(t, err)
	}
	assert.True(t, strings.HasPrefix(at, "http://127.0.0.1:"), at)
	answer, err := http.Get(at)
	require.NoError(t, err)
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	assert.Contains(t, string(body), "20261201T010000Z-b")

	request, err := http.NewRequest(http.MethodGet, at, nil)
	require.NoError(t, err)
	request.Host = "elsewhere.example"
	answer, err = http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	assert.Equal(t, http.StatusForbidden, answer.StatusCode, "a page elsewhere must not read it by a name of its own")
	cancel()
	require.NoError(t, <-done)
}

func TestServeSaysWhatItCannotServe(t *testing.T) {
	assert.ErrorContains(t, Serve(t.Context(), filepath.Join(t.TempDir(), "none"), "", nil), "none")
	assert.Error(t, Serve(t.Context(), t.TempDir(), "nonsense", nil))
}
