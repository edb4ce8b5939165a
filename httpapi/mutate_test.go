package httpapi

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/cluster"
	"github.com/leasehold/leasehold/fsm"
)

const leasesPath = "/apis/coordination.k8s.io/v1/namespaces/ns/leases"

const mergePatch = "application/merge-patch+json"

// A node that lags shows every kind of verb an old object, or none. What comes of it must never be told.
func TestOldStateIsNeverAnswered(t *testing.T) {
	for _, c := range []struct {
		name         string
		before       string // what the lagging node still shows; empty for nothing
		method, path string
		body         string
		code         int
		says         string
	}{
		{"an update of what is missing there", "", "PUT", "/a", `{"metadata":{"name":"a"}}`, 422, "metadata.resourceVersion"},
		{"a stale update that looks fresh", `{"metadata":{"name":"a"}}`, "PUT", "/a", `{"metadata":{"name":"a","resourceVersion":"$before"},"spec":{"holderIdentity":"z"}}`, 409, "modified"},
		{"a fresh update that looks ahead", `{"metadata":{"name":"a"}}`, "PUT", "/a", `{"metadata":{"name":"a","resourceVersion":"$now"},"spec":{"holderIdentity":"z"}}`, 200, `"holderIdentity":"z"`},
		{"a no-op that is none any more", `{"metadata":{"name":"a"}}`, "PATCH", "/a", `{"spec":{"holderIdentity":null}}`, 200, `"spec":{}`},
		{"a patch of what is missing there", "", "PATCH", "/a", `{"spec":{"leaseTransitions":3}}`, 200, `"leaseTransitions":3`},
		{"a dry run", `{"metadata":{"name":"a"}}`, "PATCH", "/a?dryRun=All", `{"spec":{"leaseTransitions":3}}`, 200, `"holderIdentity":"x"`},
		{"a dry run of a delete", "", "DELETE", "/a?dryRun=All", ``, 200, `"Success"`},
		{"a delete of what is missing there", "", "DELETE", "/a", ``, 200, `"Success"`},
		{"a delete's precondition", `{"metadata":{"name":"a"}}`, "DELETE", "/a", `{"preconditions":{"resourceVersion":"$now"}}`, 200, `"Success"`},
		{"a delete's precondition that held", `{"metadata":{"name":"a"}}`, "DELETE", "/a", `{"preconditions":{"resourceVersion":"$before"}}`, 409, "precondition"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := openDoor(t)
			before := "0"
			if c.before != "" {
				got := d.do(t, "POST", leasesPath, c.before)
				require.Equal(t, 201, got.StatusCode, got.body)
				before = versionOf(t, got)
			}
			d.store.hold()
			now := d.write(t, before)
			got := d.do(t, c.method, leasesPath+c.path, strings.NewReplacer("$before", before, "$now", now).Replace(c.body), "Content-Type", contentTypeOf(c.method))
			assert.Equal(t, c.code, got.StatusCode, got.body)
			assert.Contains(t, got.body, c.says)
		})
	}
}

// ahead is the same store as a node sees it that does not lag.
type ahead struct{ *oneNode }

func (a *ahead) State() *fsm.State { return a.machine.State() }

func (a *ahead) Barrier(context.Context) error { return nil }

func (a *ahead) WaitRevision(ctx context.Context, revision uint64) error {
	return a.machine.WaitRevision(ctx, revision)
}

// write makes the newest version of a, with a holder, past the door, so that a lagging node stays behind.
func (d *door) write(t *testing.T, before string) (version string) {
	t.Helper()
	other := openDoorAt(t, &ahead{d.store})
	body := `{"metadata":{"name":"a","resourceVersion":"` + before + `"},"spec":{"holderIdentity":"x"}}`
	got := other.do(t, "PUT", leasesPath+"/a", body)
	require.Contains(t, []int{200, 201}, got.StatusCode, got.body)
	return versionOf(t, got)
}

func contentTypeOf(method string) string {
	if method == "PATCH" {
		return mergePatch
	}
	return "application/json"
}

func versionOf(t *testing.T, got answer) string {
	t.Helper()
	_, rest, found := strings.Cut(got.body, `"resourceVersion":"`)
	require.True(t, found, got.body)
	version, _, _ := strings.Cut(rest, `"`)
	return version
}

// The hot path must not wait for a round of reads: a proposal needs none.
func TestRenewalTakesNoBarrier(t *testing.T) {
	d := openDoor(t)
	got := d.do(t, "POST", leasesPath, `{"metadata":{"name":"a"},"spec":{"holderIdentity":"x"}}`)
	require.Equal(t, 201, got.StatusCode, got.body)
	got = d.do(t, "PUT", leasesPath+"/a", `{"metadata":{"name":"a","resourceVersion":"`+versionOf(t, got)+`"},"spec":{"holderIdentity":"x","renewTime":"2024-01-01T00:00:00.000001Z"}}`)
	require.Equal(t, 200, got.StatusCode, got.body)
	assert.Zero(t, d.store.barriers)
}

func TestPatchesWithoutVersionNeverConflict(t *testing.T) {
	d := openDoor(t)
	require.Equal(t, 201, d.do(t, "POST", leasesPath, `{"metadata":{"name":"a"}}`).StatusCode)
	const writers = 20
	codes := make(chan int, writers)
	for i := range writers {
		go func() {
			r, err := http.NewRequest("PATCH", d.server.URL+leasesPath+"/a", strings.NewReader(`{"metadata":{"labels":{"l`+string(rune('a'+i))+`":"x"}}}`))
			if err != nil {
				codes <- 0
				return
			}
			r.Header.Set("Authorization", "Bearer "+adminToken)
			r.Header.Set("Content-Type", mergePatch)
			got, err := d.client.Do(r)
			if err != nil {
				codes <- 0
				return
			}
			got.Body.Close()
			codes <- got.StatusCode
		}()
	}
	for range writers {
		assert.Equal(t, 200, <-codes)
	}
	got := d.do(t, "GET", leasesPath+"/a", "")
	for i := range writers {
		assert.Contains(t, got.body, `"l`+string(rune('a'+i))+`":"x"`)
	}
}

// What is known to have failed may be tried again, and client-go does so on Retry-After; what may have been done must
// not be, so it never carries one.
func TestUnknownOutcomeIsNoFailure(t *testing.T) {
	for _, c := range []struct {
		fail   error
		code   int
		reason string
		retry  string
	}{
		{cluster.ErrUnavailable, 503, "ServiceUnavailable", "1"},
		{cluster.ErrClosed, 503, "ServiceUnavailable", "1"},
		{cluster.ErrOverloaded, 429, "TooManyRequests", "1"},
		{cluster.ErrUnknownOutcome, 504, "Timeout", ""},
		{cluster.ErrTooLarge, 500, "", ""},
	} {
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
			t.Run(method+" "+c.fail.Error(), func(t *testing.T) {
				d := openDoor(t)
				path, body := leasesPath, `{"metadata":{"name":"a"}}`
				if method != "POST" {
					got := d.do(t, "POST", path, body)
					require.Equal(t, 201, got.StatusCode)
					path += "/a"
					body = `{"metadata":{"name":"a","resourceVersion":"` + versionOf(t, got) + `"},"spec":{"holderIdentity":"x"}}`
				}
				if method == "DELETE" {
					body = ""
				}
				d.store.fail = c.fail
				got := d.do(t, method, path, body, "Content-Type", contentTypeOf(method))
				assert.Equal(t, c.code, got.StatusCode, got.body)
				assert.Equal(t, c.retry, got.Header.Get("Retry-After"))
				if c.reason != "" {
					assert.Contains(t, got.body, `"reason":"`+c.reason+`"`)
				} else {
					assert.NotContains(t, got.body, `"reason"`)
				}
			})
		}
	}
}

// Without a quorum a change that needs no proposal cannot be answered either.
func TestErrorsNeedAQuorum(t *testing.T) {
	d := openDoor(t)
	d.store.notReady = cluster.ErrUnavailable
	for _, c := range [][3]string{
		{"DELETE", "/none", ""},
		{"PATCH", "/none", "{}"},
		{"POST", "?dryRun=All", `{"metadata":{"name":"a"}}`},
		{"GET", "/none", ""},
	} {
		got := d.do(t, c[0], leasesPath+c[1], c[2], "Content-Type", contentTypeOf(c[0]))
		assert.Equal(t, 503, got.StatusCode, "%v %s", c, got.body)
		assert.Equal(t, "1", got.Header.Get("Retry-After"))
	}
}
