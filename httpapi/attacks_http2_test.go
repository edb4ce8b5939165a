package httpapi

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// frames speaks HTTP/2 frame by frame.
type frames struct {
	*http2.Framer
	connection net.Conn
	fields     bytes.Buffer
	encoder    *hpack.Encoder
}

func (d *door) speak(t *testing.T) *frames {
	connection := d.dial(t, "h2")
	f := &frames{Framer: http2.NewFramer(connection, connection), connection: connection}
	f.encoder = hpack.NewEncoder(&f.fields)
	_, err := io.WriteString(connection, http2.ClientPreface)
	require.NoError(t, err)
	require.NoError(t, f.WriteSettings())
	return f
}

// open begins a request on a stream.
func (f *frames) open(stream uint32, end bool, header ...string) error {
	f.fields.Reset()
	for i := 0; i < len(header); i += 2 {
		if err := f.encoder.WriteField(hpack.HeaderField{Name: header[i], Value: header[i+1]}); err != nil {
			return err
		}
	}
	return f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: f.fields.Bytes(), EndStream: end, EndHeaders: true})
}

// drain reads until the door ends the connection, and says why it did.
func (f *frames) drain() (reason error) {
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return errors.Join(reason, err)
		}
		if away, ok := frame.(*http2.GoAwayFrame); ok {
			reason = http2.ConnectionError(away.ErrCode)
		}
	}
}

func over2(method, path string, more ...string) []string {
	return append([]string{":method", method, ":scheme", "https", ":authority", "door", ":path", path, "authorization", "Bearer " + adminToken}, more...)
}

// TestStreamsOpenedAndResetAreCheap opens as many streams as it can and takes each back at once.
func TestStreamsOpenedAndResetAreCheap(t *testing.T) {
	d := openDoor(t)
	f := d.speak(t)
	ended := make(chan error, 1)
	go func() { ended <- f.drain() }()
	opened := 0
	for stream := uint32(1); stream < 40000; stream += 2 {
		if f.open(stream, true, over2("GET", leasesPath+"?watch=true")...) != nil || f.WriteRSTStream(stream, http2.ErrCodeCancel) != nil {
			break // the door has had enough
		}
		opened++
	}
	_ = f.connection.Close()
	<-ended
	t.Logf("%d streams", opened)
	d.isWell(t)
	d.hasNoWatches(t)
}

// hasNoWatches waits until no watch is counted any more: whoever left has given back its place.
func (d *door) hasNoWatches(t *testing.T) {
	require.Eventually(t, func() bool {
		return strings.Contains(d.do(t, http.MethodGet, "/metrics", "").body, "apiserver_longrunning_requests 0\n")
	}, 30*time.Second, 20*time.Millisecond)
}

// TestFramesThatCostLittleToSendAreNoBurden sends floods of them. What makes no sense ends the connection.
func TestFramesThatCostLittleToSendAreNoBurden(t *testing.T) {
	d := openDoor(t)
	for name, flood := range map[string]func(f *frames) error{
		"settings": func(f *frames) error {
			return f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 16})
		},
		"pings":         func(f *frames) error { return f.WritePing(false, [8]byte{}) },
		"continuations": func(f *frames) error { return f.WriteContinuation(1, false, make([]byte, 1<<10)) },
		"data to none":  func(f *frames) error { return f.WriteData(1, false, make([]byte, 1<<10)) },
		"windows":       func(f *frames) error { return f.WriteWindowUpdate(0, 1<<31-1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := d.speak(t)
			if name == "continuations" {
				require.NoError(t, f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, EndStream: true}))
			}
			for i := 0; i < 20000 && flood(f) == nil; i++ {
			}
			if name != "settings" && name != "pings" { // which have answers
				assert.NotErrorIs(t, f.drain(), os.ErrDeadlineExceeded)
			}
			d.isWell(t)
		})
	}
}

// TestHeadersOfHTTP2AreReadStrictly smuggles in what HTTP/1 would have split or folded.
func TestHeadersOfHTTP2AreReadStrictly(t *testing.T) {
	d := openDoor(t)
	user := []string{":method", "GET", ":scheme", "https", ":authority", "door", ":path", leasesPath, "authorization", "Bearer " + userToken}
	for name, more := range map[string][]string{
		"upper case":      {"Impersonate-User", "admin"},
		"a line's end":    {"x", "y\r\nauthorization: Bearer " + adminToken},
		"pseudo at last":  {"x", "y", ":method", "DELETE"},
		"second path":     {":path", "/livez"},
		"transfer coding": {"transfer-encoding", "chunked"},
		"connection":      {"connection", "upgrade", "upgrade", "websocket"},
		"a blank":         {"impersonate-user ", "admin"},
		"impersonation":   {"impersonate-user", "admin", "impersonate-group", "system:masters"},
	} {
		t.Run(name, func(t *testing.T) {
			f := d.speak(t)
			require.NoError(t, f.open(1, true, append(user[:len(user):len(user)], more...)...))
			code := f.answerOf(t, 1)
			assert.Contains(t, []string{"reset", "400", "403"}, code)
			d.isWell(t)
		})
	}
}

// answerOf is the code of a stream's answer, or reset.
func (f *frames) answerOf(t *testing.T, stream uint32) (code string) {
	decoder := hpack.NewDecoder(4096, func(field hpack.HeaderField) {
		if field.Name == ":status" {
			code = field.Value
		}
	})
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return "reset"
		}
		switch frame := frame.(type) {
		case *http2.HeadersFrame:
			_, err := decoder.Write(frame.HeaderBlockFragment())
			require.NoError(t, err)
			return code
		case *http2.RSTStreamFrame, *http2.GoAwayFrame:
			return "reset"
		}
	}
}

// TestSlowBodiesLeaveRoomForOthers opens many requests whose bodies never end.
func TestSlowBodiesLeaveRoomForOthers(t *testing.T) {
	d := openDoor(t)
	for range 50 {
		_, err := io.WriteString(d.dial(t, "http/1.1"), "POST "+leasesPath+" HTTP/1.1\r\n"+honest+"Content-Length: 3000000\r\n\r\n{")
		require.NoError(t, err)
	}
	f := d.speak(t)
	for i := range uint32(200) {
		require.NoError(t, f.open(2*i+1, false, over2("POST", leasesPath, "content-length", "3000000")...))
		require.NoError(t, f.WriteData(2*i+1, false, []byte("{")))
	}
	d.isWell(t)
}
