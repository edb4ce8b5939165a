package httpapi

import "runtime"

// stackRoom is more than a request needs below the pipeline, in bytes.
const stackRoom = 6 << 10

// deepen makes room on a new goroutine's stack, once and while there is little on it to move. net/http runs each request
// on a goroutine of its own, which begins with 2 KiB; left alone it runs out of stack twice on the way down, and all
// frames from there up are moved each time.
//
//go:noinline
func deepen() {
	var room [stackRoom]byte
	runtime.KeepAlive(&room)
}
