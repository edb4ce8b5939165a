package workload

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/jepsen/history"
)

func TestOutcomesOfAttempts(t *testing.T) {
	broken := errors.New("connection reset by peer")
	for _, c := range []struct {
		name        string
		x           exchange
		write, read history.Type
	}{
		{"done", exchange{code: 200}, history.OK, history.OK},
		{"made", exchange{code: 201}, history.OK, history.OK},
		{"done, but the answer was cut", exchange{code: 200, err: broken}, history.Info, history.Fail},
		{"bad request", exchange{code: 400}, history.Fail, history.Fail},
		{"not found", exchange{code: 404}, history.Fail, history.Fail},
		{"conflict", exchange{code: 409}, history.Fail, history.Fail},
		{"conflict, and the answer was cut", exchange{code: 409, err: broken}, history.Fail, history.Fail},
		{"gone", exchange{code: 410}, history.Fail, history.Fail},
		{"invalid", exchange{code: 422}, history.Fail, history.Fail},
		{"too many requests", exchange{code: 429, retryAfter: true}, history.Fail, history.Fail},
		{"unavailable, try again", exchange{code: 503, retryAfter: true}, history.Fail, history.Fail},
		{"unavailable", exchange{code: 503}, history.Info, history.Fail},
		{"internal error, try again", exchange{code: 500, retryAfter: true}, history.Fail, history.Fail},
		{"internal error", exchange{code: 500}, history.Info, history.Fail},
		{"out of time", exchange{code: 504}, history.Info, history.Fail},
		{"out of time, try again", exchange{code: 504, retryAfter: true}, history.Info, history.Fail},
		{"sent elsewhere", exchange{code: 307}, history.Info, history.Fail},
		{"never sent", exchange{err: broken, unsent: true}, history.Fail, history.Fail},
		{"not connected", exchange{err: &net.OpError{Op: "dial", Err: broken}}, history.Fail, history.Fail},
		{"cut", exchange{err: broken}, history.Info, history.Fail},
		{"no answer in time", exchange{err: context.DeadlineExceeded}, history.Info, history.Fail},
	} {
		for _, f := range []string{history.Create, history.Update, history.Put, history.Patch, history.Delete} {
			assert.Equal(t, c.write, outcome(f, c.x), "%s: %s", c.name, f)
		}
		for _, f := range []string{history.Get, history.List, history.Watch} {
			assert.Equal(t, c.read, outcome(f, c.x), "%s: %s", c.name, f)
		}
	}
}

// stage is a scene whose only node is a server, and the history so far.
func stage(t *testing.T, url string, transport http.RoundTripper) (*worker, Endpoint, func() *history.History) {
	t.Helper()
	var file bytes.Buffer
	s := &scene{Options: Options{Recorder: history.NewRecorder(&file, nil), Prefix: "t"}, objects: newReader()}
	e := Endpoint{Node: "node-1", URL: url, Client: &http.Client{Transport: transport}, Token: "secret"}
	s.Endpoints = []Endpoint{e}
	return s.worker("w"), e, func() *history.History {
		require.NoError(t, s.Recorder.Flush())
		h, err := history.Read(bytes.NewReader(file.Bytes()))
		require.NoError(t, err)
		return h
	}
}

func TestAWriteThatMayHaveBeenSentIsUnknown(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		c, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			c.Close()
		}
	}))
	defer server.Close()
	w, e, recorded := stage(t, server.URL, &http.Transport{})
	assert.Equal(t, history.Info, w.create(t.Context(), e, content{Key: "a/x", ID: w.next()}).Outcome)
	assert.Equal(t, history.Info, w.remove(t.Context(), e, "a/x", "", "").Outcome)
	assert.Equal(t, history.Fail, w.get(t.Context(), e, "a/x").Outcome)
	h := recorded()
	require.Len(t, h.Operations, 3)
	assert.NotEqual(t, h.Operations[0].Process, h.Operations[1].Process, "a name is used up by an unknown outcome")
	assert.NotEqual(t, h.Operations[1].Process, h.Operations[2].Process)
	assert.NotEqual(t, h.Operations[0].Request.ID, h.Operations[1].Request.ID)
}

func TestAWriteThatWasNeverSentFailed(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	nobody := "http://" + listener.Addr().String()
	require.NoError(t, listener.Close())
	w, e, _ := stage(t, nobody, &http.Transport{})
	assert.Equal(t, history.Fail, w.create(t.Context(), e, content{Key: "a/x", ID: "1"}).Outcome)

	// A server that accepts and then shakes no hands: the request waits for a connection that never is.
	mute := httptest.NewUnstartedServer(nil)
	go func() {
		c, err := mute.Listener.Accept()
		if err == nil {
			_, _ = bufio.NewReader(c).ReadByte()
			c.Close()
		}
	}()
	defer mute.Listener.Close()
	w, e, _ = stage(t, "https://"+mute.Listener.Addr().String(), &http.Transport{})
	assert.Equal(t, history.Fail, w.create(t.Context(), e, content{Key: "a/x", ID: "1"}).Outcome)
}

func TestAWriteWithoutAnswerIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, e, recorded := stage(t, "http://node", silent{})
		assert.Equal(t, history.Info, w.patch(t.Context(), e, content{Key: "a/x", ID: "1"}, mergePatch, false).Outcome)
		op := recorded().Operations[0]
		assert.Equal(t, patience.Nanoseconds(), op.Settled-op.Invoked)
		assert.True(t, w.scene.doubt.Load())
	})
}

// silent is a transport that never answers.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// canned answers everything alike.
type canned struct {
	code   int
	header http.Header
	body   string
	asked  *http.Request
}

func (c *canned) RoundTrip(r *http.Request) (*http.Response, error) {
	c.asked = r
	return &http.Response{StatusCode: c.code, Header: c.header, Body: io.NopCloser(strings.NewReader(c.body)), Request: r}, nil
}

func TestARefusalIsRecordedWithItsReason(t *testing.T) {
	c := &canned{code: 503, header: http.Header{"Retry-After": {"1"}}, body: `{"kind":"Status","reason":"ServiceUnavailable","message":"no leader","code":503}`}
	w, e, recorded := stage(t, "http://node", c)
	w.create(t.Context(), e, content{Key: "a/x", ID: "1"})
	op := recorded().Operations[0]
	assert.Equal(t, history.Fail, op.Outcome)
	assert.Equal(t, &history.Answer{Code: 503, Reason: "ServiceUnavailable", RetryAfter: true, Error: "no leader"}, op.Answer)
	assert.Equal(t, "Bearer secret", c.asked.Header.Get("Authorization"))
}

func TestARedirectIsNotFollowed(t *testing.T) {
	c := &canned{code: 307, header: http.Header{"Location": {"http://other/"}}}
	w, e, _ := stage(t, "http://node", c)
	assert.Equal(t, history.Info, w.create(t.Context(), e, content{Key: "a/x", ID: "1"}).Outcome)
	assert.Equal(t, "node", c.asked.URL.Host)
}

func TestADeletionTellsTheUIDOfWhatIsGone(t *testing.T) {
	w, e, _ := stage(t, "http://node", &canned{code: 200, body: `{"kind":"Status","status":"Success","details":{"name":"x","uid":"u1"}}`})
	r := w.remove(t.Context(), e, "a/x", "u1", "7")
	require.NotNil(t, r.Answer.Version)
	assert.Equal(t, history.Version{UID: "u1"}, *r.Answer.Version)
	assert.Empty(t, r.Answer.Malformed)
}
