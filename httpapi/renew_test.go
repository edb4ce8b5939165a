package httpapi

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/fsm"
)

// sink is a ResponseWriter that keeps nothing but the code.
type sink struct {
	header http.Header
	code   int
	last   []byte
}

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) WriteHeader(code int)        { s.code = code }
func (s *sink) Write(p []byte) (int, error) { s.last = append(s.last[:0], p...); return len(p), nil }

// BenchmarkRenew is the hot path without a network and without a cluster: one holder's heartbeat from the request's header
// to the last byte of the answer, the apply included.
func BenchmarkRenew(b *testing.B) {
	store := newOneNode(b)
	handler, err := New(Config{Authenticator: knownTokens()}, store)
	require.NoError(b, err)
	first := httptest.NewRecorder()
	create := httptest.NewRequest("POST", leasesPath, bytes.NewReader([]byte(
		`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"node-17"},"spec":{"holderIdentity":"node-17","leaseDurationSeconds":40,"renewTime":"2024-01-01T00:00:00.000000Z"}}`)))
	create.Header.Set("Authorization", "Bearer "+adminToken)
	create.Header.Set("User-Agent", "kubelet/v1.37")
	handler.ServeHTTP(first, create)
	require.Equal(b, 201, first.Code, first.Body)

	// What a client sends is what it was last answered, with another version and time.
	sent := bytes.TrimSpace(first.Body.Bytes())
	versionAt := bytes.Index(sent, []byte(`"resourceVersion":"`)) + len(`"resourceVersion":"`)
	timeAt := bytes.Index(sent, []byte(`"renewTime":"`)) + len(`"renewTime":"`)
	key := fsm.Key{Resource: "leases", Namespace: "ns", Name: "node-17"}
	revision := store.State().Get(key).Revision
	now := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

	request := httptest.NewRequest("PUT", leasesPath+"/node-17", nil)
	request.Header.Set("Authorization", "Bearer "+adminToken)
	request.Header.Set("User-Agent", "kubelet/v1.37")
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, */*")
	answer := &sink{}
	done := make(chan struct{}) // net/http also begins a goroutine for each request
	body := make([]byte, 0, 2*len(sent))

	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		now = now.Add(time.Microsecond)
		body = append(body[:0], sent[:versionAt]...)
		body = strconv.AppendUint(body, revision, 10)
		body = append(body, sent[bytes.IndexByte(sent[versionAt:], '"')+versionAt:timeAt]...)
		body = now.AppendFormat(body, "2006-01-02T15:04:05.000000Z")
		body = append(body, sent[bytes.IndexByte(sent[timeAt:], '"')+timeAt:]...)
		request.Body = io.NopCloser(bytes.NewReader(body))
		request.ContentLength = int64(len(body))
		answer.header = make(http.Header, 8)
		go func() {
			handler.ServeHTTP(answer, request)
			done <- struct{}{}
		}()
		<-done
		if answer.code != http.StatusOK {
			b.Fatalf("%d %s", answer.code, answer.last)
		}
		revision++
	}
}
