package workload

import (
	"context"
	"net/http"

	"github.com/leasehold/leasehold/jepsen/history"
)

// Endpoint is one node as a client sees it.
type Endpoint struct {
	Node string // its name in the history
	URL  string // https://host:port
	// Client reaches the node. Its transport never retries, and has no deadline of its own. In a simulation it calls the
	// node's handler without a socket.
	Client *http.Client
	Token  string
}

// Options are the same for all workloads.
type Options struct {
	Endpoints []Endpoint
	Recorder  *history.Recorder
	Seed      uint64
	Rate      float64 // operations a second over all clients
	Clients   int     // at work at once
	// Prefix begins the name of each namespace that the workload uses, so that two workloads, or two runs against one
	// cluster, keep apart.
	Prefix string
}

// Workload is some clients at work.
type Workload interface {
	Name() string
	// Run works until ctx ends, then finishes what only makes sense at the end of quiet (final reads, the last look of
	// watches) under a context of its own, and returns when every operation is on record. An error says that the
	// workload itself could not work, not that the cluster did badly.
	Run(ctx context.Context) error
}
