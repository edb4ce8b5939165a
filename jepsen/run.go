package jepsen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/leasehold/leasehold/jepsen/check"
	"github.com/leasehold/leasehold/jepsen/history"
	"github.com/leasehold/leasehold/jepsen/nemesis"
	"github.com/leasehold/leasehold/jepsen/workload"
)

const (
	// afterHealing is how long clients go on once all faults are over: recovery is judged by it.
	afterHealing = 5 * time.Second
	// atWork is how many operations must have succeeded before faults begin.
	atWork = 20
	// startWithin is how long a cluster has to start.
	startWithin = time.Minute
)

// Workloads are the names of all workloads.
func Workloads() []string { return workload.Names() }

// Options are what a run needs besides its spec.
type Options struct {
	Store  string    // where the runs' folders are
	Out    io.Writer // where progress is told
	Live   bool      // Out is a terminal
	Logger hclog.Logger
	// Electors are client-go's, in processes of their own, told by which authorities (PEM, "" is the system's) to know the
	// nodes, or that any certificate will do. nil is none.
	Electors func(authorities string, insecure bool) workload.Electors
	Command  string // that runs it again, for the report
	// Keep says that the folder of a run that passed keeps the nodes' data.
	Keep bool
}

// Outcome is what became of a run.
type Outcome struct {
	Dir      string
	Began    time.Time
	Took     time.Duration
	Mode     string
	Report   check.Report
	Coverage nemesis.Coverage
	Figures  Figures
}

// Run does a run and judges it. An error says that there was no run to judge; what it left is in the folder all the same.
func Run(ctx context.Context, spec Spec, options Options) (Outcome, error) {
	if err := spec.Validate(); err != nil {
		return Outcome{}, err
	}
	began := time.Now()
	dir, err := makeFolder(options.Store, spec.title(), began)
	if err != nil {
		return Outcome{}, err
	}
	outcome := Outcome{Dir: dir, Began: began}
	if err := spec.write(dir); err != nil {
		return outcome, err
	}
	r := &run{spec: spec, options: options, dir: dir, prefix: prefixOf(spec, began), progress: newProgress(options.Out, options.Live, spec.Duration), meter: nemesis.NewMeter()}
	if err := r.do(ctx); err != nil {
		return outcome, fmt.Errorf("run %s: %w", filepath.Base(dir), err)
	}
	r.progress.say("judging %d lines of history", r.lines)
	outcome.Mode = r.place.mode
	outcome.Report, outcome.Coverage, outcome.Figures, err = r.judge(began)
	outcome.Took = time.Since(began)
	if err == nil && outcome.Report.Verdict == check.Pass && !options.Keep {
		err = dropData(dir)
	}
	return outcome, err
}

// run is a run under way.
type run struct {
	spec     Spec
	options  Options
	dir      string
	prefix   string // begins the names of all namespaces used
	progress *progress
	meter    *nemesis.Meter

	place    *place
	schedule nemesis.Schedule
	builder  *history.Builder
	lines    int64
	broken   error // what the builder could not make sense of: a fault of the harness
	recorder *history.Recorder
	noting   sync.Mutex // guards notices while faults are done
	notices  []string
	leftOut  map[string]string // nodes that stay down for good, and why
	troubles []error           // of the nemesis: what could not be healed, or is no line of the history
}

// follow is told of each line.
func (r *run) follow(e history.Event) {
	r.lines++
	if err := r.builder.Add(e); err != nil && r.broken == nil {
		r.broken = fmt.Errorf("line %d: %w", e.Index, err)
	}
	r.meter.Follow(e)
	r.progress.follow(e)
}

// do is the run: a cluster, clients on it, faults, healing, quiet.
func (r *run) do(ctx context.Context) (err error) {
	file, err := os.Create(filepath.Join(r.dir, historyFile))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	r.builder = history.NewBuilder()
	r.recorder = history.NewRecorder(file, r.follow)

	r.progress.say("starting %d nodes in %s", r.spec.Nodes, r.dir)
	starting, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	if r.place, err = openPlace(starting, r.spec, r.dir, r.options.Logger); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.place.close()) }()
	r.progress.say("mode %s%s", r.place.mode, because(r.place.why))
	if err := r.plan(); err != nil {
		return err
	}
	return errors.Join(r.work(ctx), r.recorder.Flush(), r.broken)
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

// plan draws the schedule and writes it down.
func (r *run) plan() error {
	if r.place.target == nil {
		return nil
	}
	options := nemesis.Options{Nodes: r.spec.Nodes, Duration: r.spec.Duration, Interval: r.spec.Interval, Overlap: r.spec.Overlap, Target: r.place.target, Bursts: true}
	for _, pair := range r.spec.Pairs {
		a, b, ok := strings.Cut(pair, "+")
		if !ok {
			return fmt.Errorf("--pair: %q is not of the form kind+kind", pair)
		}
		options.Pairs = append(options.Pairs, [2]string{a, b})
	}
	var err error
	if r.schedule, err = nemesis.Plan(r.spec.Seed, r.spec.Nemesis, options); err != nil {
		return err
	}
	if r.spec.Only != nil {
		r.schedule = r.schedule.Keep(r.spec.Only...)
	}
	for _, o := range r.schedule.Omitted {
		r.progress.say("without %s: %s", o.Kind, o.Reason)
	}
	file, err := os.Create(filepath.Join(r.dir, scheduleFile))
	if err != nil {
		return err
	}
	return errors.Join(r.schedule.Write(file), file.Close())
}

// work has clients work while faults are done, until all is over and quiet.
func (r *run) work(ctx context.Context) error {
	clients, err := workload.New(workload.Options{
		Endpoints: r.place.endpoints, Recorder: r.recorder, Seed: r.spec.Seed, Rate: r.spec.Rate, Clients: r.spec.Clients,
		Prefix: r.prefix, Electors: r.electors(), Ending: r.spec.Ending,
	}, r.spec.Workloads...)
	if err != nil {
		return err
	}
	background, stop := context.WithCancel(ctx)
	var tasks sync.WaitGroup
	defer tasks.Wait()
	defer stop()
	tasks.Go(func() { r.tell(background) })
	if r.place.target != nil {
		tasks.Go(func() { sampler{r.place.target, r.recorder}.run(background) })
	}

	working, finish := context.WithCancel(ctx)
	defer finish()
	done := make(chan error, 1)
	go func() { done <- clients.Run(working) }()
	failed := r.harm(ctx, clients, done)
	finish()
	r.progress.say("the clients finish")
	if failed == nil {
		failed = <-done
	}
	stop()
	tasks.Wait()
	if r.place.target != nil {
		sampler{r.place.target, r.recorder}.level(ctx, cmp.Or(r.spec.Ending, levelWithin), r.leftOut)
	}
	if r.spec.Remote != nil {
		failed = errors.Join(failed, clients.Cleanup(context.WithoutCancel(ctx)))
	}
	return errors.Join(failed, ctx.Err())
}

// harm does the faults and gives the cluster time to recover, unless the clients end before. It returns their error then.
func (r *run) harm(ctx context.Context, clients workload.Workload, ended <-chan error) error {
	harmed := make(chan struct{})
	harming, stop := context.WithCancel(ctx)
	go func() {
		defer close(harmed)
		if len(r.schedule.Entries) == 0 {
			pause(harming, r.spec.Duration)
			return
		}
		r.awaitClients(harming)
		hooks := nemesis.Hooks{Meter: r.meter, Sampled: func(string, history.Sample) {}, Notice: r.note}
		if b, ok := clients.(interface {
			Burst(ctx context.Context, factor int) error
		}); ok {
			hooks.Burst = b.Burst
		}
		harm := nemesis.New(r.place.target, r.recorder, hooks)
		if err := harm.Run(harming, r.schedule); err != nil {
			r.troubles = append(r.troubles, err)
		}
		r.leftOut = harm.LeftOut()
		pause(harming, cmp.Or(r.spec.Recovery, afterHealing))
	}()
	defer func() { stop(); <-harmed }()
	select {
	case err := <-ended:
		if err == nil {
			err = errors.New("the clients ended before their time")
		}
		return err
	case <-harmed:
		return nil
	}
}

// awaitClients waits until the clients are well at work: faults that nobody is there to feel show nothing.
func (r *run) awaitClients(ctx context.Context) {
	wait, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	for r.meter.Read().OK < atWork && wait.Err() == nil {
		pause(wait, 20*time.Millisecond)
	}
}

func (r *run) note(sentence string) {
	r.noting.Lock()
	defer r.noting.Unlock()
	r.notices = append(r.notices, sentence)
}

// tell tells the progress and writes the history out, until ctx ends.
func (r *run) tell(ctx context.Context) {
	every := time.Second
	if !r.options.Live {
		every = 10 * time.Second
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			r.progress.tick()
			_ = r.recorder.Flush() // its error comes back at the end
		}
	}
}

// prefixOf begins the names of all namespaces of a run. A cluster that goes on may hold those of others.
func prefixOf(spec Spec, now time.Time) string {
	if spec.Remote == nil {
		return "jepsen"
	}
	return fmt.Sprintf("jepsen-%d-%d", spec.Seed, now.Unix())
}

// electors are those of the options, told by which authority to know the cluster.
func (r *run) electors() workload.Electors {
	if r.options.Electors == nil {
		return nil
	}
	return r.options.Electors(r.place.ca, r.place.insecure)
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
