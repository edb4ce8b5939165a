package workload

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/leasehold/leasehold/jepsen/history"
)

// timing is that of all elections. A holder stops believing at the latest RetryPeriod and RenewDeadline after the answer to
// its last renewal, a rival takes over LeaseDuration after it saw that renewal: there is no overlap as long as no answer
// comes more than LeaseDuration-RenewDeadline-RetryPeriod, 3 s, after its write, and clients wait Timeout, which is less.
var timing = Timing{LeaseDuration: 9 * time.Second, RenewDeadline: 5 * time.Second, RetryPeriod: time.Second, Timeout: 2 * time.Second}

// Timing is what an elector goes by.
type Timing struct {
	LeaseDuration time.Duration `json:"leaseDuration"`
	RenewDeadline time.Duration `json:"renewDeadline"`
	RetryPeriod   time.Duration `json:"retryPeriod"`
	Timeout       time.Duration `json:"timeout"` // of a request
}

// rivals is how many electors want one lease.
const rivals = 3

// election has candidates of the harness's own contend for some leases, and client-go's electors, in processes of their
// own, for as many as there are clients for. A third of the processes is paused now and then; of the candidates some
// have clocks that run fast or slow.
func election(ctx context.Context, j *job) error {
	var all sync.WaitGroup
	for lease := range max(1, j.clients/(2*rivals)) {
		for rival := range rivals {
			c := newCandidate(j, lease, rival)
			all.Go(func() { c.run(ctx) })
		}
	}
	var err error
	if j.Electors != nil {
		err = elections(ctx, j)
	}
	all.Wait()
	return err
}

// elections runs the processes of client-go's electors until ctx ends.
func elections(ctx context.Context, j *job) error {
	processes := max(rivals, j.clients/10)
	tasks := make([]ElectorTask, processes)
	for p := range tasks {
		tasks[p] = ElectorTask{Name: fmt.Sprintf("%s-p%d", j.label, p), Timing: timing, Token: j.Endpoints[0].Token, Seed: j.Seed + uint64(p)}
		tasks[p].Encoding = []string{"application/json", "application/vnd.kubernetes.protobuf"}[p%2]
		for n := range j.Endpoints {
			tasks[p].URLs = append(tasks[p].URLs, j.Endpoints[(p+n)%len(j.Endpoints)].URL)
		}
	}
	for lease := range max(1, j.clients/rivals) {
		for rival := range rivals {
			task := &tasks[(lease+rival)%processes]
			task.Leases = append(task.Leases, fmt.Sprintf("%s/l%03d", j.namespace(0), lease))
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var all sync.WaitGroup
	failures := make([]error, processes)
	for p, task := range tasks {
		h := &host{scene: j.scene, task: task, disturbed: p%rivals == 0, rng: j.scene.worker(task.Name).rng}
		all.Go(func() {
			if failures[p] = h.run(ctx, j.Electors); failures[p] != nil {
				cancel()
			}
		})
	}
	all.Wait()
	return errors.Join(failures...)
}

// host is one process of electors.
type host struct {
	scene     *scene
	task      ElectorTask
	disturbed bool // it is paused now and then
	rng       *rand.Rand

	held map[string]history.Event // by elector, the Lead line that no Yield has followed; for the reader of its lines
}

func (h *host) run(ctx context.Context, electors Electors) error {
	process, err := electors.Start(ctx, h.task)
	if err != nil {
		return fmt.Errorf("start electors %s: %w", h.task.Name, err)
	}
	offset, err := clockOffset(h.scene.Recorder)
	if err != nil {
		return errors.Join(fmt.Errorf("read the lines of electors %s: %w", h.task.Name, err), process.Stop())
	}
	ended := make(chan error, 1)
	go func() { ended <- h.listen(process, offset) }()
	died := h.disturb(ctx, process, ended)
	if died == nil {
		err = process.Stop()
		err = errors.Join(err, <-ended)
	} else {
		err = errors.Join(*died, process.Stop(), fmt.Errorf("electors %s ended before their time", h.task.Name))
	}
	// What a dead process believed it believes no more.
	for name, lead := range h.held {
		tenure := *lead.Tenure
		tenure.At = h.scene.Recorder.Now()
		h.scene.Recorder.Record(history.Event{Process: name, Type: history.Yield, Tenure: &tenure})
	}
	return err
}

// disturb pauses the process for some time, again and again, until ctx ends, if it is one of those, and leaves it
// running. If its lines end before, it returns why.
func (h *host) disturb(ctx context.Context, process ElectorProcess, ended <-chan error) *error {
	for paused := false; ; paused = !paused {
		length := time.Duration(5+h.rng.IntN(20)) * time.Second
		signal := os.Signal(syscall.SIGCONT)
		if paused {
			signal = syscall.SIGSTOP
		}
		if h.disturbed {
			// It fails only for a process that has ended, of which the lines tell.
			_ = process.Signal(signal)
		}
		timer := time.NewTimer(length)
		select {
		case <-timer.C:
		case err := <-ended:
			timer.Stop()
			return &err
		case <-ctx.Done():
			timer.Stop()
			if h.disturbed {
				_ = process.Signal(syscall.SIGCONT)
			}
			return nil
		}
	}
}
