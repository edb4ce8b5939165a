package sim

import (
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/leasehold/leasehold/httpapi/discovery"
)

// plan is what a seed decides upon for one bubble.
type plan struct {
	seed      uint64
	nodes     int
	duration  time.Duration
	rate      float64 // a little more or less than is asked for
	clients   int
	workloads []string
	interval  time.Duration // how long a fault lasts on average
	overlap   float64       // how many are in force at once
	kinds     []string      // of faults
	pairs     [][2]string
	settings  settings
	timing    timing

	// What tests put in a cluster's way, and nil otherwise: between clients and nodes, and beside the faults.
	tamper func(node string, next http.RoundTripper) http.RoundTripper
	meddle func(bed *testbed)
}

func pick[T any](r *rand.Rand, among ...T) T { return among[r.IntN(len(among))] }

// some draws a third to two thirds: what is done often interferes more, and what is left out cannot hide anything.
func some(r *rand.Rand, among []string) []string {
	drawn := slices.Clone(among)
	r.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
	return drawn[:len(drawn)/3+r.IntN(len(drawn)/3)]
}

// newPlan draws a plan. Timeouts are longer than the product's defaults, which makes a simulated second cheaper and changes
// nothing else: they are all relative to each other. Bounds on snapshots and history are low, so that they are met.
func newPlan(seed uint64, o Options, documents discovery.Documents) plan {
	r := rand.New(rand.NewPCG(seed, 4))
	p := plan{
		seed:      seed,
		nodes:     pick(r, 3, 3, 3, 5),
		duration:  o.Bubble,
		rate:      o.Rate * pick(r, 0.4, 0.7, 1.2),
		clients:   6 + r.IntN(10),
		workloads: pick(r, []string{"mixed"}, []string{"mixed"}, []string{"register", "watch"}, []string{"mixed", "append", "generate"}),
		interval:  pick(r, 6*time.Second, 12*time.Second, 20*time.Second),
		overlap:   pick(r, 0.4, 0.6, 0.8),
		kinds:     some(r, harms),
		pairs:     [][2]string{pick(r, pairs...)},
		timing: timing{
			link: pick(r, 200*time.Microsecond, time.Millisecond, 5*time.Millisecond),
			sync: pick(r, 500*time.Microsecond, 3*time.Millisecond, 10*time.Millisecond),
		},
		settings: settings{
			documents:       documents,
			logger:          logger(o.Logs),
			electionTimeout: pick(r, time.Second, 2*time.Second, 3*time.Second, 3*time.Second),
			commitTimeout:   pick(r, 300*time.Millisecond, time.Second),
			snapshotBytes:   pick[int64](r, 8<<10, 32<<10, 256<<10),
			trailingBytes:   pick[int64](r, 1, 16<<10, 128<<10),
			historyAge:      pick(r, 75*time.Second, 2*time.Minute, 5*time.Minute),
			historyBytes:    pick(r, 32<<10, 256<<10, 1<<20),
			tailEvents:      pick(r, 20, 200, 2000),
		},
	}
	if o.Nodes != 0 {
		p.nodes = o.Nodes
	}
	return p
}

func logger(out io.Writer) hclog.Logger {
	if out == nil {
		return hclog.NewNullLogger()
	}
	return hclog.New(&hclog.LoggerOptions{Level: hclog.Info, Output: out})
}
