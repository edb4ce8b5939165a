package workload

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leasehold/leasehold/jepsen/history"
)

// Names are the workloads that there are.
func Names() []string {
	return []string{"register", "list", "watch", "append", "generate", "heartbeat", "election", "mixed"}
}

// New makes one workload of those named, which share the rate, the clients and the watches of the whole store that are
// the evidence for what became of writes without an answer.
func New(o Options, names ...string) (Workload, error) {
	if len(o.Endpoints) == 0 || o.Recorder == nil || o.Prefix == "" || o.Rate <= 0 || o.Clients < 1 {
		return nil, errors.New("a workload needs endpoints, a recorder, a prefix, and a rate and clients above zero")
	}
	var shares []share
	for _, name := range names {
		more, err := sharesOf(name)
		if err != nil {
			return nil, err
		}
		shares = append(shares, more...)
	}
	if len(shares) == 0 {
		return nil, errors.New("no workload is named: they are " + strings.Join(Names(), ", "))
	}
	total := 0
	for _, s := range shares {
		total += s.weight
	}
	g := &crew{scene: &scene{Options: o, objects: newReader()}, name: strings.Join(names, ","), streams: 1}
	for i, s := range shares {
		part := float64(s.weight) / float64(total)
		label := jobLabel(shares[:i], s.name)
		g.jobs = append(g.jobs, &job{scene: g.scene, label: label, home: label, task: s.task,
			rate: o.Rate * part, clients: max(1, int(float64(o.Clients)*part+0.5))})
		if s.name == "watch" {
			g.streams = 2
		}
	}
	return g, nil
}

// jobLabel is a job's name, with a number if the same is there already.
func jobLabel(before []share, name string) string {
	n := 0
	for _, s := range before {
		if s.name == name {
			n++
		}
	}
	if n == 0 {
		return name
	}
	return name + strconv.Itoa(n+1)
}

// share is a job's part of the rate and the clients.
type share struct {
	name   string
	weight int
	task   func(context.Context, *job) error
}

func sharesOf(name string) ([]share, error) {
	switch name {
	case "register":
		return []share{{name, 10, register}}, nil
	case "list":
		return []share{{name, 10, lists}}, nil
	case "watch":
		return []share{{name, 10, watches}}, nil
	case "append":
		return []share{{name, 10, appends}}, nil
	case "generate":
		return []share{{name, 10, generate}}, nil
	case "heartbeat":
		return []share{{name, 10, heartbeats}}, nil
	case "election":
		return []share{{name, 10, election}}, nil
	case "mixed":
		return mixed(), nil
	}
	return nil, fmt.Errorf("no workload is named %q: they are %s", name, strings.Join(Names(), ", "))
}

// scene is what all workers of a workload share.
type scene struct {
	Options
	objects  *reader
	first    atomic.Uint64 // the revision that the store had at the beginning
	frontier atomic.Uint64 // the highest revision that any worker was told of
	doubt    atomic.Bool   // some write's outcome is unknown
}

// worker makes a client of its own randomness.
func (s *scene) worker(name string) *worker {
	sum := fnv.New64a()
	sum.Write([]byte(name))
	return &worker{scene: s, name: name, rng: rand.New(rand.NewPCG(s.Seed, sum.Sum64())), patience: patience}
}

// saw takes the revisions of an answer to account.
func (s *scene) saw(a *history.Answer) {
	s.reach(a.Revision)
	if a.Version != nil {
		s.reach(a.Version.Revision)
	}
}

// glimpse takes the revision of a change to account.
func (s *scene) glimpse(c history.Change) { s.reach(reached(&c, false)) }

func (s *scene) reach(revision uint64) {
	for {
		known := s.frontier.Load()
		if revision <= known || s.frontier.CompareAndSwap(known, revision) {
			return
		}
	}
}

// job is one workload at work: its workers' names, rate and namespaces.
type job struct {
	*scene
	label   string // begins its workers' names
	home    string // its name in namespaces
	task    func(context.Context, *job) error
	rate    float64
	clients int
}

// namespace is the n-th of the job's own.
func (j *job) namespace(n int) string { return j.Prefix + "-" + j.home + "-" + strconv.Itoa(n) }

// spaces is how many namespaces each job may use.
const spaces = 3

// work runs the job's clients, each at its part of the rate, until ctx ends: each is told its number and does one
// operation, or several, whenever one is due.
func (j *job) work(ctx context.Context, step func(ctx context.Context, w *worker, number int)) {
	var all sync.WaitGroup
	every := time.Duration(float64(j.clients) / j.rate * float64(time.Second))
	for number := range j.clients {
		w := j.scene.worker(j.label + "-" + strconv.Itoa(number))
		all.Go(func() {
			for pace := newPacer(every, w.rng); pace.wait(ctx); {
				step(ctx, w, number)
			}
		})
	}
	all.Wait()
}

// pick chooses among alternatives by their weights, which are pairs of a weight and what is chosen.
func pick[T any](rng *rand.Rand, choices ...choice[T]) T {
	total := 0
	for _, c := range choices {
		total += c.weight
	}
	n := rng.IntN(total)
	i := slices.IndexFunc(choices, func(c choice[T]) bool { n -= c.weight; return n < 0 })
	return choices[i].what
}

type choice[T any] struct {
	weight int
	what   T
}
