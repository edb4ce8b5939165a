package sim

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/jepsen/nemesis"
)

// oneDoor is a testbed of one process that answers by a handler.
func oneDoor(handler http.HandlerFunc) (*testbed, *process) {
	b := &testbed{network: newNetwork([]string{nemesis.Client, "a"}, time.Millisecond, 1), places: map[string]*place{}}
	b.ctx, b.end = context.WithCancel(context.Background())
	l := &process{id: "a", network: b.network, handler: handler}
	l.ctx, l.end = context.WithCancel(context.Background())
	b.places["a"] = &place{id: "a", life: l}
	return b, l
}

func get(ctx context.Context, b *testbed, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://a/path?x=1", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	return b.client("a").Do(r)
}

func TestTheDoorIsLikeAServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, l := oneDoor(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			w.Header().Set("Content-Type", "text/plain")
			w.WriteHeader(http.StatusTeapot)
			_, _ = io.WriteString(w, r.RequestURI+" "+string(body))
		})
		response, err := get(t.Context(), b, "body")
		require.NoError(t, err)
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, http.StatusTeapot, response.StatusCode)
		assert.Equal(t, "text/plain", response.Header.Get("Content-Type"))
		assert.Equal(t, "/path?x=1 body", string(text))

		b.places["a"].life = nil
		_, err = get(t.Context(), b, "")
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
		l.doors.Wait()
	})
}

func TestAStreamComesPieceByPieceUntilItIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left := make(chan struct{})
		b, l := oneDoor(func(w http.ResponseWriter, r *http.Request) {
			defer close(left)
			control := http.NewResponseController(w)
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, "tick\n"); err != nil || control.Flush() != nil {
					return
				}
				time.Sleep(time.Second)
			}
		})
		began := time.Now()
		response, err := get(t.Context(), b, "")
		require.NoError(t, err)
		lines := bufio.NewScanner(response.Body)
		for range 3 {
			require.True(t, lines.Scan())
		}
		assert.InDelta(t, 2*time.Second, time.Since(began), float64(10*time.Millisecond))

		require.NoError(t, b.network.set("a", nemesis.Client, nemesis.Condition{Drop: true}))
		go func() {
			time.Sleep(20 * time.Second)
			l.end() // the process dies; of that no word comes through
			time.Sleep(20 * time.Second)
			assert.NoError(t, b.network.set("a", nemesis.Client, nemesis.Condition{}))
		}()
		count := 0
		for lines.Scan() {
			count++
		}
		assert.GreaterOrEqual(t, count, 19, "what was sent arrives late")
		require.ErrorIs(t, lines.Err(), syscall.ECONNRESET)
		assert.Greater(t, time.Since(began), 40*time.Second)
		require.NoError(t, response.Body.Close())
		<-left
		l.doors.Wait()
	})
}

func TestTheServerLearnsThatAClientHasGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var gone time.Duration
		b, l := oneDoor(func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			gone = time.Since(began)
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := get(ctx, b, "")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		l.doors.Wait()
		assert.Equal(t, time.Second, gone)
	})
}
