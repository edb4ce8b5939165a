package httpapi

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/cluster"
	"github.com/leasehold/leasehold/fsm"
)

func TestBodyOverThreeMebibytesIsRefused(t *testing.T) {
	d := openDoor(t)
	large := `{"metadata":{"name":"a"},"x":"` + strings.Repeat("h", maxBody) + `"}`
	for _, header := range [][]string{nil, {"Content-Type", "application/json"}} {
		got := d.do(t, "POST", leasesPath, large, header...)
		assert.Equal(t, http.StatusRequestEntityTooLarge, got.StatusCode)
		assert.Contains(t, got.body, `"reason":"RequestEntityTooLarge"`)
	}

	// Without a length the limit must be found while reading.
	r, err := http.NewRequest("POST", d.server.URL+leasesPath, io.MultiReader(strings.NewReader(large)))
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+adminToken)
	got, err := d.client.Do(r)
	require.NoError(t, err)
	got.Body.Close()
	assert.Equal(t, http.StatusRequestEntityTooLarge, got.StatusCode)
}

func TestObjectOverTheStoresLimitIsRefusedWithoutReason(t *testing.T) {
	d := openDoor(t)
	body := `{"metadata":{"name":"a"},"spec":{"holderIdentity":"` + strings.Repeat("h", maxObject) + `"}}`
	got := d.do(t, "POST", leasesPath, body)
	assert.Equal(t, http.StatusInternalServerError, got.StatusCode)
	assert.NotContains(t, got.body, `"reason"`)
	assert.Equal(t, http.StatusNotFound, d.do(t, "GET", leasesPath+"/a", "").StatusCode)
}

// gate is a store whose proposals wait until they are let through.
type gate struct {
	*oneNode
	arrived, open chan struct{}
}

func newGate(t *testing.T) *gate {
	return &gate{newOneNode(t), make(chan struct{}, 10), make(chan struct{})}
}

func (g *gate) Propose(ctx context.Context, command fsm.Command) (fsm.Result, error) {
	g.arrived <- struct{}{}
	select {
	case <-g.open:
		return g.oneNode.Propose(ctx, command)
	case <-ctx.Done():
		return fsm.Result{}, cluster.ErrUnknownOutcome
	}
}

func TestOneRequestTooManyIsToldToRetry(t *testing.T) {
	g := newGate(t)
	d := openDoorAt(t, g, func(c *Config) { c.MaxInFlight, c.Deadline = 1, time.Minute })
	first := make(chan int)
	go func() { first <- d.do(t, "POST", leasesPath, `{"metadata":{"name":"a"}}`).StatusCode }()
	<-g.arrived

	got := d.do(t, "GET", leasesPath+"/b", "")
	assert.Equal(t, http.StatusTooManyRequests, got.StatusCode)
	assert.Equal(t, "1", got.Header.Get("Retry-After"))
	assert.Equal(t, http.StatusOK, d.do(t, "GET", "/livez", "").StatusCode, "health is always answered")

	close(g.open)
	assert.Equal(t, http.StatusCreated, <-first)
	assert.Equal(t, http.StatusNotFound, d.do(t, "GET", leasesPath+"/b", "").StatusCode, "the place is free again")
}

// A process that is stopped for a while and goes on has missed every timer; the clock at the header has not.
func TestSuccessThatComesTooLateIsUnknown(t *testing.T) {
	d := openDoor(t, func(c *Config) { c.Deadline = time.Nanosecond })
	got := d.do(t, "POST", leasesPath, `{"metadata":{"name":"a"}}`)
	assert.Equal(t, http.StatusGatewayTimeout, got.StatusCode, got.body)
	assert.Contains(t, got.body, `"reason":"Timeout"`)
	assert.Empty(t, got.Header.Get("Retry-After"))
	assert.NotNil(t, d.store.State().Get(fsm.Key{Resource: "leases", Namespace: "ns", Name: "a"}), "it was made nevertheless")
}

func TestHungProposalEndsAtTheDeadline(t *testing.T) {
	g := newGate(t)
	d := openDoorAt(t, g, func(c *Config) { c.Deadline = 50 * time.Millisecond })
	got := d.do(t, "POST", leasesPath, `{"metadata":{"name":"a"}}`)
	assert.Equal(t, http.StatusGatewayTimeout, got.StatusCode, got.body)
	assert.Empty(t, got.Header.Get("Retry-After"))
}

// cutOff is a store that hears nothing from the others.
type cutOff struct{ *oneNode }

func (cutOff) Barrier(ctx context.Context) error {
	<-ctx.Done()
	return cluster.ErrUnavailable
}

func TestCutOffNodeAnswersAnErrorInTime(t *testing.T) {
	d := openDoorAt(t, cutOff{newOneNode(t)}, func(c *Config) { c.Deadline = 50 * time.Millisecond })
	for _, c := range [][3]string{
		{"GET", "/a", ""}, {"GET", "", ""}, {"DELETE", "/a", ""}, {"PATCH", "/a", "{}"}, {"DELETE", "", ""},
	} {
		got := d.do(t, c[0], leasesPath+c[1], c[2], "Content-Type", contentTypeOf(c[0]))
		assert.Equal(t, http.StatusServiceUnavailable, got.StatusCode, "%v %s", c, got.body)
		assert.Equal(t, "1", got.Header.Get("Retry-After"), c)
	}
	assert.Equal(t, http.StatusOK, d.do(t, "GET", leasesPath+"?resourceVersion=0", "").StatusCode, "any version will do")
}

// panicking is a store whose state cannot be looked at.
type panicking struct{ *oneNode }

func (panicking) State() *fsm.State { panic("a fault") }

func TestPanicIsOneRequestsOwn(t *testing.T) {
	d := openDoorAt(t, panicking{newOneNode(t)})
	got := d.do(t, "PUT", leasesPath+"/a", `{"metadata":{"name":"a"}}`)
	assert.Equal(t, http.StatusInternalServerError, got.StatusCode)
	assert.NotContains(t, got.body, "a fault")
	assert.Equal(t, http.StatusOK, d.do(t, "GET", "/livez", "").StatusCode)
}

func TestNodeThatIsNotReadySaysWhyAndTakesNoWatch(t *testing.T) {
	d := openDoor(t)
	d.store.notReady = cluster.ErrUnavailable
	got := d.do(t, "GET", "/readyz", "")
	assert.Equal(t, http.StatusInternalServerError, got.StatusCode)
	assert.Contains(t, got.body, cluster.ErrUnavailable.Error())
	assert.Equal(t, http.StatusOK, d.do(t, "GET", "/livez", "").StatusCode, "it is alive: to restart it would not help")

	got = d.do(t, "GET", leasesPath+"?watch=true", "")
	assert.Equal(t, http.StatusServiceUnavailable, got.StatusCode)
	assert.Equal(t, "1", got.Header.Get("Retry-After"))
}

func TestMetricsCountRequests(t *testing.T) {
	d := openDoor(t)
	require.Equal(t, 201, d.do(t, "POST", leasesPath, `{"metadata":{"name":"a"}}`).StatusCode)
	require.Equal(t, 405, d.do(t, "BREW", leasesPath, "").StatusCode)
	require.Equal(t, 200, d.do(t, "BREW", "/openapi/v3", "").StatusCode, "as kube-apiserver does")
	got := d.do(t, "GET", "/metrics", "")
	assert.Equal(t, 200, got.StatusCode)
	assert.Contains(t, got.body, `apiserver_request_total{code="201",component="apiserver",dry_run="",group="coordination.k8s.io",resource="leases",scope="namespace",subresource="",verb="POST",version="v1"} 1`)
	assert.Contains(t, got.body, "apiserver_request_duration_seconds_bucket")
	assert.Contains(t, got.body, "process_cpu_seconds_total")
	assert.Contains(t, got.body, "go_goroutines")
	assert.NotContains(t, got.body, "BREW", "a client cannot make series")
}

func TestConfigIsChecked(t *testing.T) {
	_, err := New(Config{}, nil)
	require.ErrorContains(t, err, "authenticator")
	_, err = New(Config{Authenticator: knownTokens(), MaxInFlight: -1}, nil)
	require.ErrorContains(t, err, "max in-flight")
}
