package workload

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/jepsen/history"
)

// pouring answers with a body that ends with an error, or, if there is none, never.
type pouring struct {
	body  string
	end   error
	asked string
}

func (p *pouring) RoundTrip(r *http.Request) (*http.Response, error) {
	p.asked = r.URL.RequestURI()
	read, write := io.Pipe()
	go func() {
		_, _ = io.WriteString(write, p.body)
		if p.end == nil {
			<-r.Context().Done()
			p.end = r.Context().Err()
		}
		write.CloseWithError(p.end)
	}()
	return &http.Response{StatusCode: 200, Body: read, Request: r}, nil
}

const events = `{"type":"ADDED","object":{"kind":"Lease","metadata":{"name":"x","namespace":"a","uid":"u","resourceVersion":"7","creationTimestamp":"2026-12-01T00:00:00Z"}}}
{"type":"BOOKMARK","object":{"kind":"Lease","metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}}
`

func TestAWatchRecordsWhatItSeesAndWhyItEnds(t *testing.T) {
	const gone = `{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}` + "\n"
	for name, c := range map[string]struct {
		from   pouring
		each   func(*history.Change) bool
		reason string
		code   int
		seen   int
	}{
		"by the server":       {from: pouring{body: events, end: io.EOF}, reason: history.EndedByServer, seen: 2},
		"by a cut connection": {from: pouring{body: events + `{"type":`, end: io.ErrUnexpectedEOF}, reason: history.EndedByCut, seen: 2},
		"by an error":         {from: pouring{body: events + gone}, reason: history.EndedByError, code: 410, seen: 3},
		"when it is enough":   {from: pouring{body: events}, each: func(*history.Change) bool { return false }, reason: history.EndedByClient, seen: 1},
		"when it is silent":   {from: pouring{body: events}, reason: history.EndedByClient, seen: 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, e, recorded := stage(t, "http://node", &c.from)
				end := w.watch(t.Context(), e, stream{Request: history.Request{Key: "a/", Group: "g1", Revision: "5", Bookmark: true}, Timeout: 30 * time.Second,
					Idle: 10 * time.Second, Each: c.each})
				assert.Equal(t, watched{Opened: true, Code: c.code, Reason: c.reason}, end)
				s := recorded().Streams[0]
				assert.Equal(t, c.reason, s.Reason)
				require.Len(t, s.Changes, c.seen)
				assert.Equal(t, uint64(7), s.Changes[0].Version.Revision)
				if c.seen > 1 {
					assert.Equal(t, history.Change{Type: "BOOKMARK", Revision: 9, InitialEnd: true}, *s.Changes[1].Change)
				}
				assert.Equal(t, "/apis/coordination.k8s.io/v1/namespaces/a/leases?allowWatchBookmarks=true&labelSelector=group%3Dg1&resourceVersion=5&timeoutSeconds=30&watch=true", c.from.asked)
			})
		})
	}
}

func TestFramesAreLinesOfAnyLength(t *testing.T) {
	long := `"` + strings.Repeat("x", 50_000) + `"`
	from := newFrames(io.MultiReader(strings.NewReader("1\n\n"), strings.NewReader(long+"\n{}")))
	for _, want := range []string{"1", long, "{}"} {
		got, err := from.next()
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
	_, err := from.next()
	require.ErrorIs(t, err, io.EOF)

	from = newFrames(strings.NewReader("1\n{"))
	_, err = from.next()
	require.NoError(t, err)
	_, err = from.next()
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

func TestChangesAreReadAlikeWhetherRememberedOrNot(t *testing.T) {
	r := newReader()
	for _, line := range strings.Split(strings.TrimSpace(events), "\n") {
		first, err := r.change([]byte(line))
		require.NoError(t, err)
		again, err := r.change([]byte(line))
		require.NoError(t, err)
		assert.Equal(t, first, again)
		assert.Same(t, first.Version, again.Version, "it is remembered")
	}
	_, err := r.change([]byte(`{"type":`))
	assert.Error(t, err)
}

func TestHeavyObjectsAreAsHeavyAsIsAskedFor(t *testing.T) {
	light := content{Key: "a/" + fat + "1", Weight: 1 << 10}.whole()
	assert.Greater(t, len(light), 1<<10)
	assert.Less(t, len(light), 2<<10)
	assert.Greater(t, len(content{Key: "a/" + fat + "1"}.whole()), usualWeight)
}

func TestAReaderThatStopsReadsOnAfterwards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, e, recorded := stage(t, "http://node", &pouring{body: events + events, end: io.EOF})
		n := 0
		w.watch(t.Context(), e, stream{Idle: time.Second, Each: func(*history.Change) bool {
			n++
			return n != 1 || sleep(t.Context(), 5*time.Second)
		}})
		s := recorded().Streams[0]
		assert.Equal(t, history.EndedByServer, s.Reason, "its own slowness is not the server's silence")
		require.Len(t, s.Changes, 4)
		assert.Equal(t, (5 * time.Second).Nanoseconds(), s.Changes[1].Time-s.Changes[0].Time)
	})
}

func TestAWatchThatIsRefusedOrNeverOpensFails(t *testing.T) {
	w, e, recorded := stage(t, "http://node", &canned{code: 410, body: `{"kind":"Status","reason":"Expired","code":410}`})
	assert.Equal(t, watched{Code: 410}, w.watch(t.Context(), e, stream{}))
	assert.Equal(t, history.Fail, recorded().Streams[0].Outcome)
	assert.Equal(t, "Expired", recorded().Streams[0].Answer.Reason)

	synctest.Test(t, func(t *testing.T) {
		w, e, recorded := stage(t, "http://node", silent{})
		assert.Equal(t, watched{}, w.watch(context.Background(), e, stream{}))
		s := recorded().Streams[0]
		assert.Equal(t, history.Fail, s.Outcome)
		assert.Equal(t, patience.Nanoseconds(), s.Ended-s.Invoked)
	})
}

func TestEventsOfAnotherFormAreMalformed(t *testing.T) {
	for _, bad := range []string{`{"type":"RENAMED","object":{}}`, `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"0"}}}`, `{"type":"ADDED","object":{"metadata":{}}}`,
		`{"type":"ERROR","object":"no"}`} {
		w, e, recorded := stage(t, "http://node", &pouring{body: bad, end: io.EOF})
		w.watch(t.Context(), e, stream{})
		assert.NotEmpty(t, recorded().Streams[0].Changes[0].Malformed, strings.TrimSpace(bad))
	}
}

func TestANarrowReaderTakesInLittle(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, events) }))
	defer server.Close()
	var narrowed *net.TCPConn
	transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err == nil {
			narrowed = c.(*net.TCPConn)
		}
		return c, err
	}}
	defer transport.CloseIdleConnections()
	w, e, _ := stage(t, server.URL, transport)
	buffer := 0
	w.watch(t.Context(), e, stream{Narrow: true, Each: func(*history.Change) bool {
		raw, err := narrowed.SyscallConn()
		require.NoError(t, err)
		require.NoError(t, raw.Control(func(fd uintptr) { buffer, err = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF) }))
		require.NoError(t, err)
		return false
	}})
	assert.LessOrEqual(t, buffer, 2*tight, "the system counts double")
}
