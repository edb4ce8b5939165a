package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// fate is what a renewer was told of one attempt at a write. An attempt of which it was told that nothing was done, by a
// 4xx, a 503 or a refused connection, is in no list.
type fate struct {
	acknowledged bool   // else the outcome is unknown: a 504, or a connection that broke
	revision     uint64 // of an acknowledged one
}

// failure is one request that a client would have noticed.
type failure struct {
	node     int
	sent, at time.Time // when it was asked and answered, or nearly
	what     string
}

// renewer is one client with a connection of its own and a Lease that nobody else writes. Each attempt asks for the
// counter to go up by one from a version it has seen, and is named in the Lease, so that the record of events tells what
// became of every single one.
type renewer struct {
	lease  string
	node   int
	base   string
	token  string
	client *http.Client
	pad    string // ballast in each version, to grow the log
	series string // makes the names of its attempts differ from those of earlier renewers of the same Lease

	revision uint64 // of the last version seen, 0 when there is none yet
	uid      string
	count    int64 // in that version
	attempts int
	began    int64 // count before its first attempt

	fates    map[string]fate // by attempt
	failures []failure
	sent     time.Time     // of the last request
	slowest  time.Duration // from the intended start of an acknowledged renewal to its end
	last     time.Time     // of the last acknowledgement
	gap      time.Duration // longest time between two of them
	acks     []time.Time
	done     atomic.Int64 // how many acks, for who looks on meanwhile
}

const renewerNamespace = "renewed"

// newRenewer is a client of node k.
func (c *cluster) newRenewer(lease string, k int) *renewer {
	client := c.client()
	client.Timeout = 20 * time.Second
	return &renewer{
		lease: lease, node: k, base: c.url(k), token: c.file("admin.token"), client: client,
		series: fmt.Sprintf("%d.", time.Now().UnixMilli()), fates: map[string]fate{},
	}
}

// url returns where node k serves.
func (c *cluster) url(k int) string { return fmt.Sprintf("https://127.0.0.1:%d", c.port+k-1) }

// run renews every interval from start on until ctx ends, late ones at once, and then finds out what became of the last.
func (r *renewer) run(ctx context.Context, start time.Time, interval time.Duration) {
	defer r.client.CloseIdleConnections()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for intended := start; ; intended = intended.Add(interval) {
		timer.Reset(time.Until(intended))
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		r.renew(ctx, intended)
	}
}

// renew writes until one attempt is acknowledged, or ctx ends between two of them.
func (r *renewer) renew(ctx context.Context, intended time.Time) {
	for !r.attempt(intended) {
		// As a client does that was told to come back, only sooner: an outage is measured by it.
		select {
		case <-ctx.Done():
			return
		case <-time.After(50 * time.Millisecond):
		}
		r.look(ctx)
	}
}

// attempt sends one write and notes its fate.
func (r *renewer) attempt(intended time.Time) bool {
	r.attempts++
	name := fmt.Sprintf("%s#%s%d", r.lease, r.series, r.attempts)
	code, body, err := r.send(http.MethodPut, r.body(name, r.count+1))
	switch {
	case err == nil && (code == http.StatusOK || code == http.StatusCreated):
		var now leaseVersion
		if err := json.Unmarshal(body, &now); err != nil || now.Spec.Holder != name || now.Spec.Count != r.count+1 {
			r.fail("acknowledged %s with another version: %v %s", name, err, body)
			return false
		}
		r.see(now)
		r.fates[name] = fate{acknowledged: true, revision: r.revision}
		r.acknowledge(intended)
		return true
	case code == http.StatusGatewayTimeout, err != nil && !isRefused(err):
		r.fates[name] = fate{}
	}
	if err != nil {
		r.fail("%s: %v", name, err)
	} else {
		r.fail("%s: %d %s", name, code, bytes.TrimSpace(body))
	}
	return false
}

func (r *renewer) acknowledge(intended time.Time) {
	now := time.Now()
	r.slowest = max(r.slowest, now.Sub(intended))
	if !r.last.IsZero() {
		r.gap = max(r.gap, now.Sub(r.last))
	}
	r.last = now
	r.acks = append(r.acks, now)
	r.done.Add(1)
}

// look learns the version from which the next attempt starts, if the server tells.
func (r *renewer) look(ctx context.Context) {
	for ctx.Err() == nil {
		code, body, err := r.send(http.MethodGet, "")
		var now leaseVersion
		switch {
		case err == nil && code == http.StatusOK && json.Unmarshal(body, &now) == nil:
			r.see(now)
			return
		case err == nil && code == http.StatusNotFound:
			r.revision, r.count, r.uid = 0, 0, ""
			return
		case err != nil:
			r.fail("get %s: %v", r.lease, err)
		default:
			r.fail("get %s: %d %s", r.lease, code, bytes.TrimSpace(body))
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (r *renewer) see(now leaseVersion) {
	r.revision, _ = strconv.ParseUint(now.Metadata.Revision, 10, 64)
	r.uid, r.count = now.Metadata.UID, now.Spec.Count
}

func (r *renewer) fail(format string, args ...any) {
	r.failures = append(r.failures, failure{r.node, r.sent, time.Now(), fmt.Sprintf(format, args...)})
}

// body is a Lease held by an attempt. The first one creates.
func (r *renewer) body(attempt string, count int64) string {
	var precondition, ballast string
	if r.revision != 0 {
		precondition = fmt.Sprintf(`,"resourceVersion":"%d","uid":%q`, r.revision, r.uid)
	}
	if r.pad != "" {
		ballast = fmt.Sprintf(`,"annotations":{"ballast":%q}`, r.pad)
	}
	return fmt.Sprintf(`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":%q,"namespace":%q%s%s},`+
		`"spec":{"holderIdentity":%q,"leaseDurationSeconds":15,"leaseTransitions":%d,"renewTime":%q}}`,
		r.lease, renewerNamespace, precondition, ballast, attempt, count, time.Now().UTC().Format("2006-01-02T15:04:05.000000Z"))
}

func (r *renewer) send(method, body string) (int, []byte, error) {
	r.sent = time.Now()
	// Bare io.Reader: with a body that it could rewind, the transport would send it again by itself.
	request, err := http.NewRequest(method, r.base+"/apis/coordination.k8s.io/v1/namespaces/"+renewerNamespace+"/leases/"+r.lease,
		struct{ io.Reader }{strings.NewReader(body)})
	if err != nil {
		return 0, nil, err
	}
	if request.ContentLength = int64(len(body)); body == "" {
		request.Body = nil
	}
	request.Header.Set("Authorization", "Bearer "+r.token)
	request.Header.Set("Content-Type", "application/json")
	response, err := r.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}

// isRefused tells whether a request surely never left, because nobody listened.
func isRefused(err error) bool { return errors.Is(err, errRefused) }

// leaseVersion is what the tests read of a Lease.
type leaseVersion struct {
	Metadata struct {
		Name     string `json:"name"`
		Revision string `json:"resourceVersion"`
		UID      string `json:"uid"`
	} `json:"metadata"`
	Spec struct {
		Holder string `json:"holderIdentity"`
		Count  int64  `json:"leaseTransitions"`
	} `json:"spec"`
}

// list returns the version of a default list of all Leases.
func (r *renewer) list() (uint64, error) {
	defer r.client.CloseIdleConnections()
	code, body, err := r.send(http.MethodGet, "")
	if err != nil {
		return 0, err
	}
	var list leaseVersion
	if code != http.StatusOK {
		return 0, fmt.Errorf("list: %d %s", code, body)
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return 0, err
	}
	return strconv.ParseUint(list.Metadata.Revision, 10, 64)
}
