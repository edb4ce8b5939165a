package httpapi

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/fsm"
	"github.com/leasehold/leasehold/httpapi/media"
)

// discard is an output that counts bytes.
type discard struct{ bytes *atomic.Int64 }

func (d discard) write(_ media.Accepted, frames []byte) error {
	d.bytes.Add(int64(len(frames)))
	return nil
}
func (discard) single() bool { return false }
func (discard) flush() error { return nil }
func (discard) abort()       {}

// BenchmarkFanOut makes 1,000 changes in a second, one an operation, while watches are open, and reports the processor
// time of an operation: a share of one processor, in thousandths. The output is what the door gives to the HTTP server;
// over HTTP, TLS and both ends of each connection come on top.
func BenchmarkFanOut(b *testing.B) {
	const leases = 1000
	for _, c := range []struct {
		name    string
		watches int
		select1 bool // each watch is of one Lease
		http    bool
	}{
		{"no watch", 0, false, false},
		{"1000 watches of one lease each", 1000, true, false},
		{"1000 watches of all", 1000, false, false},
		{"1000 watches of one lease each over HTTP", 1000, true, true},
		{"100 watches of all over HTTP", 100, false, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			d := openDoor(b)
			s := newServer(b, d.store)
			for i := range leases {
				d.store.change(b, fsm.OpCreate, "ns", fmt.Sprintf("l%d", i), nil)
			}
			ctx, cancel := context.WithCancel(b.Context())
			var running sync.WaitGroup
			var bytes atomic.Int64
			for i := range c.watches {
				selected := selector{namespace: "ns"}
				query := fmt.Sprintf("?watch=true&resourceVersion=%d", d.store.State().Revision())
				if c.select1 {
					selected.name = fmt.Sprintf("l%d", i)
					query += "&fieldSelector=metadata.name%3D" + selected.name
				}
				if !c.http {
					w := newWatch(s, selected, d.store.State().Revision(), time.Hour)
					running.Go(func() { w.run(ctx, discard{&bytes}, start{}) })
					continue
				}
				r, err := http.NewRequestWithContext(ctx, "GET", d.server.URL+leasesPath+query, nil)
				require.NoError(b, err)
				r.Header.Set("Authorization", "Bearer "+adminToken)
				response, err := d.client.Do(r)
				require.NoError(b, err)
				running.Go(func() {
					defer response.Body.Close()
					n, _ := io.Copy(io.Discard, response.Body)
					bytes.Add(n)
				})
			}
			begin, i, next := cpuTime(b), 0, time.Now()
			for b.Loop() {
				next = next.Add(time.Millisecond)
				time.Sleep(time.Until(next))
				d.store.change(b, fsm.OpUpdate, "ns", fmt.Sprintf("l%d", i%leases), nil)
				i++
			}
			used := cpuTime(b) - begin
			b.ReportMetric(float64(used.Microseconds())/float64(b.N), "cpu-us/op")
			cancel()
			running.Wait()
			b.ReportMetric(float64(bytes.Load())/float64(b.N), "B-told/op")
		})
	}
}

// BenchmarkList2000 is all that a list of 2,000 heartbeats costs at the handler, the form of a real client's answer
// included.
func BenchmarkList2000(b *testing.B) {
	d := openDoor(b)
	for i := range 2000 {
		got := d.do(b, "PUT", fmt.Sprintf("%s/node-%d", leasesPath, i), heartbeatBody(i), "User-Agent", "kubelet/v1")
		require.Equal(b, 201, got.StatusCode, got.body)
	}
	for _, c := range []struct{ name, accept, encoding string }{
		{"json", "application/json", ""}, {"json in gzip", "application/json", "gzip"}, {"protobuf", "application/vnd.kubernetes.protobuf", ""},
	} {
		b.Run(c.name, func(b *testing.B) {
			r, err := http.NewRequest("GET", leasesPath, nil)
			require.NoError(b, err)
			r.Header.Set("Authorization", "Bearer "+adminToken)
			r.Header.Set("Accept", c.accept)
			r.Header.Set("Accept-Encoding", c.encoding)
			begin := cpuTime(b)
			for b.Loop() {
				out := &counted{header: http.Header{}}
				d.server.Config.Handler.ServeHTTP(out, r)
				require.Equal(b, 200, out.code)
				b.SetBytes(int64(out.size))
			}
			b.ReportMetric(float64((cpuTime(b)-begin).Microseconds())/float64(b.N), "cpu-us/op")
		})
	}
}

func heartbeatBody(i int) string {
	return fmt.Sprintf(`{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"node-%d","namespace":"ns","ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"node-%d","uid":"11111111-2222-3333-4444-555555555555"}]},"spec":{"holderIdentity":"node-%d","leaseDurationSeconds":40,"renewTime":"2024-01-01T00:00:10.123456Z"}}`, i, i, i)
}

// cpuTime is the processor time that the process has used.
func cpuTime(t testing.TB) time.Duration {
	var usage syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// counted takes an answer and counts its bytes.
type counted struct {
	header http.Header
	code   int
	size   int
}

func (c *counted) Header() http.Header  { return c.header }
func (c *counted) WriteHeader(code int) { c.code = code }
func (c *counted) Write(p []byte) (int, error) {
	c.size += len(p)
	return len(p), nil
}
