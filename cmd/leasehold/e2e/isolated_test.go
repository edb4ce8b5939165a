package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A node that is cut off, the leader above all, does not know what the others acknowledge meanwhile. While a Lease is
// renewed through the others, and while the network comes back and delivers what was under way, its default reads must
// answer with what was acknowledged before they began, or not at all.
func TestNodeThatIsCutOffNeverAnswersOld(t *testing.T) {
	p := startPartitionable(t)
	for _, role := range []string{"leader", "follower"} {
		leader, follower := p.leader()
		k := map[string]int{"leader": leader, "follower": follower}[role]
		t.Logf("node-%d, a %s, is cut off", k, role)
		witnesses := p.witness(p.newestRevision(), []int{k}, others(k)[:1])
		load := p.renew(others(k)[:1], 1, 100)
		renewed := load.renewers[0]
		readers := p.readWhile(k, renewed)
		readers.more(t, &readers.answers, 20)

		p.cut(k)
		readers.more(t, &readers.errors, 20)
		load.more(t, 200)
		assert.Contains(t, p.notReady(k), "[-]quorum failed: ")
		t.Logf("its /readyz says: %s", strings.ReplaceAll(p.notReady(k), "\n", "; "))
		code, body, err := p.ask(p.client(), k, http.MethodGet, "/apis/coordination.k8s.io/v1/namespaces/renewed/leases/"+renewed.lease+"?resourceVersion=0", "")
		require.NoError(t, err)
		assert.Equal(t, http.StatusOK, code, "a read of what there is: %s", body)
		require.Eventually(t, func() bool { return len(witnesses[0].state().resumed) > 0 }, patience, 20*time.Millisecond, "its watches go on")
		stray := p.newRenewer("stray", k)
		assert.False(t, stray.attempt(time.Now()), "a write without a majority was acknowledged")

		p.heal(k)
		readers.more(t, &readers.answers, 200)
		readers.stop()
		load.stop()
		assert.Empty(t, readers.wrong())
		if role == "follower" { // an election may outlast a request
			assert.Empty(t, load.failures(), "through the others")
		}
		t.Logf("%d answers and %d errors, the slowest after %s; %d renewals through the others, outage %s", readers.answers.Load(),
			readers.errors.Load(), time.Duration(readers.slowest.Load()).Round(time.Millisecond), load.acknowledged(), load.outage().Round(time.Millisecond))

		accounts := load.accounts()
		accounts[stray.lease] = account{stray.began, stray.fates}
		p.assertWitnessed(witnesses, accounts)
		p.assertEqual()
	}
}

// notReady returns what /readyz says once it fails.
func (c *cluster) notReady(k int) (body string) {
	c.t.Helper()
	client := c.client()
	require.Eventually(c.t, func() bool {
		var code int
		var err error
		code, body, err = c.ask(client, k, http.MethodGet, "/readyz", "")
		return err == nil && code == http.StatusInternalServerError
	}, patience, 50*time.Millisecond)
	return body
}

// readers read one Lease on one node again and again, by get and by list.
type readers struct {
	stopNow context.CancelFunc
	running sync.WaitGroup
	answers atomic.Int64
	errors  atomic.Int64
	slowest atomic.Int64 // of the errors, in nanoseconds

	mu    sync.Mutex // guards fault
	fault []string
}

// readWhile starts readers on node k of the Lease that is renewed meanwhile.
func (c *cluster) readWhile(k int, renewed *renewer) *readers {
	ctx, cancel := context.WithCancel(context.Background())
	r := &readers{stopNow: cancel}
	c.t.Cleanup(r.stop)
	path := "/apis/coordination.k8s.io/v1/namespaces/" + renewerNamespace + "/leases"
	for i := range 6 {
		client := c.client()
		client.Timeout = 20 * time.Second // well above what a request may take
		r.running.Go(func() {
			for ctx.Err() == nil {
				at := path + "/" + renewed.lease
				if i%2 == 0 {
					at = path + "?fieldSelector=metadata.name=" + renewed.lease
				}
				least, begun := renewed.done.Load(), time.Now()
				code, body, err := c.ask(client, k, http.MethodGet, at, "")
				r.note(renewed.began+least, time.Since(begun), code, body, err)
			}
		})
	}
	return r
}

func (r *readers) note(least int64, took time.Duration, code int, body string, err error) {
	var found struct {
		leaseVersion
		Items []leaseVersion `json:"items"`
	}
	switch {
	case err != nil:
		r.say("no answer after %s: %v", took, err)
	case code == http.StatusServiceUnavailable || code == http.StatusGatewayTimeout:
		r.errors.Add(1)
		r.slowest.Store(max(r.slowest.Load(), int64(took)))
	case code != http.StatusOK:
		r.say("%d %s", code, body)
	case json.Unmarshal([]byte(body), &found) != nil || len(found.Items) > 1:
		r.say("unreadable: %s", body)
	default:
		if len(found.Items) == 1 {
			found.leaseVersion = found.Items[0]
		}
		if found.Spec.Count < least {
			r.say("an old answer: %d, when %d had been acknowledged before", found.Spec.Count, least)
		}
		r.answers.Add(1)
	}
}

func (r *readers) say(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fault = append(r.fault, fmt.Sprintf(format, args...))
}

func (r *readers) wrong() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fault
}

// more returns after n more of something.
func (r *readers) more(t *testing.T, what *atomic.Int64, n int64) {
	t.Helper()
	before := what.Load()
	require.Eventually(t, func() bool { return what.Load() >= before+n }, patience, 20*time.Millisecond, "%v", r.wrong())
}

func (r *readers) stop() {
	r.stopNow()
	r.running.Wait()
}
