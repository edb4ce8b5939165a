package httpapi

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLargeBuffersAreLetGo(t *testing.T) {
	var b listBuffers
	b.give(make([]byte, 10, maxKeptBuffer+1))
	require.Zero(t, cap(b.take()))
	b.give([]byte("what was written"))
	require.Empty(t, b.take(), "whether it was kept or not")
}

// reset is a client that resets its stream in the middle of an answer.
type reset struct{ *httptest.ResponseRecorder }

func (reset) Write([]byte) (int, error) { return 0, errors.New("stream closed") }

func TestBufferThatMayStillBeReadIsNotUsedAgain(t *testing.T) {
	for _, c := range []struct {
		client http.ResponseWriter
		free   bool
	}{{httptest.NewRecorder(), true}, {reset{httptest.NewRecorder()}, false}} {
		free := false
		answer := &response{code: http.StatusOK, document: []byte("list"), written: func() { free = true }}
		new(server).respond(&writer{ResponseWriter: c.client}, &request{http: httptest.NewRequest("GET", "/", nil)}, answer)
		require.Equal(t, c.free, free)
	}
}
