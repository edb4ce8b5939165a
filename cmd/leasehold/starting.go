package main

import (
	"io"
	"net/http"
	"sync/atomic"
)

// doorway answers while a node is still opening its data directory, which takes as long as its disk takes no writes,
// and passes every request on to the door once that is there.
type doorway struct {
	door atomic.Pointer[http.Handler] // nil until opened
}

// open lets requests through to the door.
func (d *doorway) open(door http.Handler) { d.door.Store(&door) }

func (d *doorway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if door := d.door.Load(); door != nil {
		(*door).ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	switch r.URL.Path {
	case "/livez", "/healthz":
		_, _ = io.WriteString(w, "ok") // fails when the client is gone
	default:
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "not ready: the data directory is being opened\n")
	}
}
