package check

import (
	"strings"
	"time"
)

// Options are what a history does not say of its run. The zero value judges strictly and asks for no traffic.
type Options struct {
	// MinOperations and MinAcked are the traffic and the acknowledged writes below which a run shows nothing.
	MinOperations int
	MinAcked      int
	// NeedFaults says that a run without a fault that was felt shows nothing. Kinds are those that the run was to have.
	NeedFaults bool
	Kinds      []string
	// MayMiss says that a kind that was done and never felt is no matter, as in one of many short runs.
	MayMiss bool
	// NeedStreams says that each node had watches of everything that must have caught up at the end.
	NeedStreams bool
	// Nodes are the names of all nodes; if there are none, those that the history speaks of.
	Nodes []string

	// Foreign are the beginnings of keys that others than the recorded operations write: nobody's work is asked for there.
	// Leases that electors hold are foreign by themselves.
	Foreign []string
	// Own are the beginnings of the keys that the harness uses. Anything else is not judged. None means all.
	Own []string
	// Peer says that the server is a kube-apiserver, of which only what Kubernetes promises is asked.
	Peer bool

	// Settle is how long after it was given up, and after the last fault, a write may still take effect. Default 5 s.
	Settle time.Duration
	// Recovery is how long after healing writes may go without an acknowledgement, and Patience how long one call may stay
	// without any answer. Defaults 30 s and 60 s.
	Recovery, Patience time.Duration
	// Slow is the lag from which on a reader of a watch counts as slow. Default 5 s. It only names the guarantee.
	Slow time.Duration

	// Heartbeat is the period at which each lease whose key begins with HeartbeatKeys is renewed; HeartbeatMissed is how many
	// renewals in a row may be missed. A period of zero judges none.
	Heartbeat       time.Duration
	HeartbeatKeys   string
	HeartbeatMissed int

	// LinearOperations and LinearTimeout bound the second opinion. Defaults 1,000,000 and 60 s; a negative number leaves it out.
	LinearOperations int
	LinearTimeout    time.Duration
	// Findings is how many each checker tells of each guarantee at most. Default 20.
	Findings int
}

func (o Options) withDefaults() Options {
	o.Settle = orDefault(o.Settle, 5*time.Second)
	o.Recovery = orDefault(o.Recovery, 30*time.Second)
	o.Patience = orDefault(o.Patience, 60*time.Second)
	o.Slow = orDefault(o.Slow, 5*time.Second)
	o.LinearOperations = orDefault(o.LinearOperations, 1_000_000)
	o.LinearTimeout = orDefault(o.LinearTimeout, 60*time.Second)
	o.Findings = orDefault(o.Findings, 20)
	return o
}

func orDefault[T comparable](value, otherwise T) T {
	var none T
	if value == none {
		return otherwise
	}
	return value
}

// own tells whether the harness uses a key.
func (o *Options) own(key string) bool { return len(o.Own) == 0 || hasAnyPrefix(key, o.Own) }

func hasAnyPrefix(key string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}
