package testbed_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/jepsen/history"
	"github.com/leasehold/leasehold/jepsen/testbed"
)

// patience is how long anything is waited for. Machines that run tests are busy.
const patience = 60 * time.Second

// binary is the server, built once for all tests.
var binary string

func TestMain(m *testing.M) {
	if err := testbed.Enter(testbed.Mode(cmp.Or(os.Getenv(sceneMode), string(testbed.Auto)))); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	if os.Getenv(sceneMode) != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "testbed")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "leasehold")
	build := exec.Command("go", "build", "-o", binary, "github.com/leasehold/leasehold/cmd/leasehold")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the server: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// bed is a testbed under test.
type bed struct {
	*testbed.Testbed
	t   *testing.T
	dir string

	mu    sync.Mutex // guards exits
	exits []testbed.Exit
}

// open starts a cluster that ends with the test.
func open(t *testing.T, options testbed.Options) *bed {
	t.Helper()
	b := &bed{t: t, dir: t.TempDir()}
	options.Binary, options.Dir = cmp.Or(options.Binary, binary), b.dir
	options.OnExit = func(e testbed.Exit) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.exits = append(b.exits, e)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var err error
	b.Testbed, err = testbed.Open(ctx, options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

// alone starts a cluster of one node.
func alone(t *testing.T, mode testbed.Mode) *bed {
	t.Helper()
	return open(t, testbed.Options{Mode: mode, Nodes: 1})
}

func (b *bed) ready(nodes ...string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()
	require.NoError(b.t, b.AwaitReady(ctx, nodes...))
}

// request sends one request over a node's link to the clients.
func (b *bed) request(ctx context.Context, node, method, path, body string) (int, string, error) {
	b.t.Helper()
	request, err := http.NewRequestWithContext(ctx, method, b.URL(node)+path, strings.NewReader(body))
	require.NoError(b.t, err)
	request.Header.Set("Authorization", "Bearer "+b.Token())
	request.Header.Set("Content-Type", "application/json")
	response, err := b.Client(node).Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases"

func lease(name string) string {
	return `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"` + name + `"}}`
}

// create makes a lease by way of a node, and fails the test if that does not work.
func (b *bed) create(node, name string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()
	code, body, err := b.request(ctx, node, http.MethodPost, leases, lease(name))
	require.NoError(b.t, err)
	require.Equal(b.t, http.StatusCreated, code, body)
}

// has tells whether a node shows a lease.
func (b *bed) has(node, name string) bool {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()
	code, body, err := b.request(ctx, node, http.MethodGet, leases+"/"+name, "")
	require.NoError(b.t, err)
	require.Contains(b.t, []int{http.StatusOK, http.StatusNotFound}, code, body)
	return code == http.StatusOK
}

// sample asks a node about itself until what it says is as wanted.
func (b *bed) sample(node string, wanted func(history.Sample) bool) history.Sample {
	b.t.Helper()
	var last history.Sample
	require.Eventually(b.t, func() bool {
		var err error
		last, err = b.Sample(b.t.Context(), node)
		return err == nil && wanted(last)
	}, patience, 20*time.Millisecond)
	return last
}

func anything(history.Sample) bool { return true }

// leader waits until all nodes agree on a leader, and returns it and the others.
func (b *bed) leader() (leader string, others []string) {
	b.t.Helper()
	for _, node := range b.Nodes() {
		said := b.sample(node, func(s history.Sample) bool { return s.Leader != "" }).Leader
		require.True(b.t, leader == "" || leader == said, "%s or %s leads", leader, said)
		leader = said
	}
	for _, node := range b.Nodes() {
		if node != leader {
			others = append(others, node)
		}
	}
	return leader, others
}
