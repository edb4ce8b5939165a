package workload

import (
	"errors"
	"net"
	"net/http"

	"github.com/leasehold/leasehold/jepsen/history"
)

// exchange is what is known of one attempt after it.
type exchange struct {
	code       int   // 0 if no status came
	retryAfter bool  // the answer asked for another try
	err        error // met on the way, also while the body was read
	unsent     bool  // no connection was had, so not one byte was sent
}

// outcome says what an attempt at an operation came to.
//
// A write failed for certain if no byte of it was sent, if it was refused as the client's own mistake or by the state it met
// (4xx), or if the answer asks for another try. client-go sends any verb again after a 429 or 5xx with Retry-After, POST
// included, so a server must set that header only where it knows that nothing was done: kube-apiserver does while it is
// shedding load, starting or shutting down. Whoever sets it on a write that may have been done makes clients do things twice; here
// it shows as a failed write that took effect. A 504 never counts, whatever its headers: it says that time ran out on the way.
//
// Everything else leaves a write unknown: timeouts, cut connections, 2xx whose body was cut, 5xx without Retry-After, and
// codes that the API does not have. A read that has no answer has only failed.
func outcome(f string, x exchange) history.Type {
	answered := x.code != 0
	switch {
	case answered && x.code/100 == 2 && x.err == nil:
		return history.OK
	case isRead(f):
		return history.Fail
	case !answered && (x.unsent || isDial(x.err)):
		return history.Fail
	case answered && x.code/100 == 4:
		return history.Fail
	case answered && x.code/100 == 5 && x.code != http.StatusGatewayTimeout && x.retryAfter:
		return history.Fail
	}
	return history.Info
}

func isRead(f string) bool { return f == history.Get || f == history.List || f == history.Watch }

// isDial says that a connection could not be made.
func isDial(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}
