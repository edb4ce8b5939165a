package workload

import (
	"context"
	"net/http"
	"time"

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
	Clients   int     // at work at once, not counting those that watch, and heartbeats, of which there are ten for each of Rate
	// Prefix begins the name of each namespace that the workload uses, so that two workloads, or two runs against one
	// cluster, keep apart.
	Prefix string
	// Electors start client-go's electors. Without them, as in a simulation, only the harness's own electors run.
	Electors Electors
	// SlowEvery is added to the time between two stands of the reader that stops, which are dear. 0 is the usual.
	SlowEvery time.Duration
	// Elections is the timing of the harness's own electors. The zero value is the usual.
	Elections Timing
	// Ending bounds the time that Run takes after its context ended. 0 is a minute.
	Ending time.Duration
	// Weight is how many bytes of text make an object heavy: sixty times that must be more than lies in the buffers between a
	// server and a reader that stops. 0 is the usual, 128 KiB, which is for sockets.
	Weight int
}

// Workload is some clients at work.
type Workload interface {
	Name() string
	// Run works until ctx ends, then finishes what only makes sense at the end of quiet (final reads, the last look of
	// watches) under a context of its own, and returns when every operation is on record. An error says that the
	// workload itself could not work, not that the cluster did badly.
	//
	// Faults must be healed, or about to be, when ctx ends: then it waits up to Options.Ending for what cannot be done at once.
	Run(ctx context.Context) error
	// Burst has further clients do factor times the usual until ctx ends, which must be before that of Run does.
	Burst(ctx context.Context, factor int) error
	// Cleanup removes what the workload left in the cluster, for a cluster that lives on. It records nothing, so it must come
	// after Run.
	Cleanup(ctx context.Context) error
}
