package testbed

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/leasehold/leasehold/jepsen/nemesis"
)

// killedWithin is more than the kernel needs to end a process that was killed, also one that waits for its disk.
const killedWithin = 30 * time.Second

// stoppedWithin is more than a node allows itself for stopping in good order.
const stoppedWithin = 60 * time.Second

// Kill ends nodes with SIGKILL, one signal right after the other. A node that is down stays so.
func (t *Testbed) Kill(names ...string) error {
	nodes, err := t.find(names...)
	if err != nil {
		return fmt.Errorf("kill: %w", err)
	}
	processes := map[*node]*process{}
	for _, n := range nodes {
		if p := n.current(); p != nil {
			p.asked.Store(true)
			processes[n] = p
		}
	}
	var faults []error
	for _, p := range processes {
		faults = append(faults, p.signal(syscall.SIGKILL))
	}
	for n, p := range processes {
		faults = append(faults, n.forget(p))
	}
	for _, p := range processes {
		if !p.await(killedWithin) {
			faults = append(faults, fmt.Errorf("process %d does not die of SIGKILL", p.pid()))
		}
	}
	return errors.Join(faults...)
}

// Alive says whether a node's process is there, paused or not.
func (t *Testbed) Alive(name string) bool {
	nodes, err := t.find(name)
	return err == nil && nodes[0].current() != nil
}

// Start starts a node that is down. It does not wait until the node serves.
func (t *Testbed) Start(ctx context.Context, name string, life nemesis.Life) error {
	nodes, err := t.find(name)
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("start %s: %w", name, err)
	}
	if err := t.begin(nodes[0], life); err != nil {
		return err
	}
	t.Refresh(name)
	return nil
}

// Stop ends a node in good order, and returns when it has ended. A paused one goes on first.
func (t *Testbed) Stop(ctx context.Context, name string) error {
	nodes, err := t.find(name)
	if err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	p := nodes[0].current()
	if p == nil {
		return nil
	}
	p.asked.Store(true)
	if err := errors.Join(p.signal(syscall.SIGTERM), p.signal(syscall.SIGCONT)); err != nil {
		return err
	}
	timer := time.NewTimer(stoppedWithin)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-ctx.Done():
		return fmt.Errorf("stop %s: %w", name, ctx.Err())
	case <-timer.C:
		return fmt.Errorf("stop %s: it did not end within %s", name, stoppedWithin)
	}
	if p.err != nil {
		return fmt.Errorf("stop %s: it ended with %w", name, p.err)
	}
	return nil
}

// Pause stops processes where they stand, one signal right after the other.
func (t *Testbed) Pause(names ...string) error {
	processes, err := t.signal(syscall.SIGSTOP, names...)
	if err == nil && len(processes) == 0 {
		err = fmt.Errorf("pause: none of %v runs", names)
	}
	for _, p := range processes {
		err = errors.Join(err, awaitStopped(p))
	}
	return err
}

// Resume lets them go on.
func (t *Testbed) Resume(names ...string) error {
	_, err := t.signal(syscall.SIGCONT, names...)
	return err
}

// signal sends a signal to those nodes that run, and returns their processes.
func (t *Testbed) signal(s syscall.Signal, names ...string) ([]*process, error) {
	nodes, err := t.find(names...)
	if err != nil {
		return nil, fmt.Errorf("signal %s: %w", s, err)
	}
	var processes []*process
	for _, n := range nodes {
		if p := n.current(); p != nil {
			processes = append(processes, p)
		}
	}
	var faults []error
	for _, p := range processes {
		faults = append(faults, p.signal(s))
	}
	return processes, errors.Join(faults...)
}
