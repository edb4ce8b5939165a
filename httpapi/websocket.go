package httpapi

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"golang.org/x/net/websocket"

	"github.com/leasehold/leasehold/httpapi/media"
)

// isWebSocket says whether a request wants to go on as a websocket.
func isWebSocket(r *http.Request) bool {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		return false
	}
	for _, value := range r.Header["Connection"] {
		for option := range strings.SplitSeq(value, ",") {
			if strings.EqualFold(strings.TrimSpace(option), "upgrade") {
				return true
			}
		}
	}
	return false
}

// serveSocket upgrades the connection and runs a watch over it. A request without an Origin, which every browser sends, is
// refused with 403 before. The context ends when the client closes; what it sends means nothing.
func serveSocket(q *request, out http.ResponseWriter, run func(ctx context.Context, out output)) {
	if w, ok := out.(*writer); ok {
		w.code = http.StatusSwitchingProtocols
		out = w.ResponseWriter
	}
	websocket.Handler(func(connection *websocket.Conn) {
		ctx, cancel := context.WithCancel(q.context())
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			defer cancel()
			_, _ = io.Copy(io.Discard, connection)
		}()
		run(ctx, socket{connection})
		_ = connection.Close()
		<-gone
	}).ServeHTTP(out, q.http)
}

// socket is a watch over a websocket: each event is a message, of text for JSON.
type socket struct {
	connection *websocket.Conn
}

func (s socket) write(accepted media.Accepted, frame []byte) error {
	message := accepted.Message(frame)
	if accepted.Encoding == media.JSON {
		return websocket.Message.Send(s.connection, string(message))
	}
	return websocket.Message.Send(s.connection, message)
}

func (s socket) single() bool { return true }
func (s socket) flush() error { return nil }
func (s socket) abort()       { _ = s.connection.SetWriteDeadline(time.Now()) }
