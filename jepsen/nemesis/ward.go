package nemesis

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// stopTime bounds how long a node may take to end in good order, and to be started.
const stopTime = 20 * time.Second

// ward keeps what all faults in force want of the cluster, and makes the cluster so. Faults speak to the target through it
// alone; so two that concern one node or link never contradict each other, and what is bad for two reasons is good again
// only when both are gone.
//
// Locks are channels where the target is called under them: in a simulation time must go on while one waits.
type ward struct {
	target Target
	nodes  []string
	states map[string]*state

	mu      sync.Mutex // guards what follows; never held while the target is called
	demands map[string]map[string]demand
	damaged map[string][]injury // by node, what was done to its files and not undone
	claims  map[string]claim    // by node
	exiled  map[string]string   // node to the reason for which it stays down

	links *wires
}

// state is what a node was last told to be. It belongs to who holds the lock.
type state struct {
	lock  chan struct{}
	up    bool
	now   demand // but down
	doubt bool   // a call failed: tell the node everything again
}

func newWard(target Target) *ward {
	w := &ward{target: target, nodes: target.Nodes(), states: make(map[string]*state), demands: make(map[string]map[string]demand),
		damaged: make(map[string][]injury), claims: make(map[string]claim), exiled: make(map[string]string), links: newWires(target)}
	for _, node := range w.nodes {
		w.states[node] = &state{lock: make(chan struct{}, 1), up: true}
		w.demands[node] = make(map[string]demand)
	}
	return w
}

// lock takes the locks of nodes, always in one order.
func (w *ward) lock(nodes []string) (unlock func()) {
	ordered := slices.Sorted(slices.Values(nodes))
	for _, node := range ordered {
		w.states[node].lock <- struct{}{}
	}
	return func() {
		for _, node := range ordered {
			<-w.states[node].lock
		}
	}
}

// want changes what a fault wants of a node. It takes effect with settle.
func (w *ward) want(fault, node string, change func(*demand)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := w.demands[node][fault]
	change(&d)
	w.demands[node][fault] = d
}

func (w *ward) wanted(node string) demand {
	w.mu.Lock()
	defer w.mu.Unlock()
	return compose(w.demands[node])
}

// spared are the nodes that no fault wants anything of.
func (w *ward) spared() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var free []string
	for _, node := range w.nodes {
		if len(w.demands[node]) == 0 {
			free = append(free, node)
		}
	}
	return free
}

// set changes what a fault wants of nodes, and makes them so.
func (w *ward) set(ctx context.Context, fault string, nodes []string, change func(*demand)) error {
	var errs []error
	for _, node := range nodes {
		w.want(fault, node, change)
		errs = append(errs, w.settle(ctx, node))
	}
	return errors.Join(errs...)
}

// pause stops all the nodes that run with one call.
func (w *ward) pause(fault string, nodes []string) error {
	defer w.lock(nodes)()
	var running []string
	for _, node := range nodes {
		w.want(fault, node, func(d *demand) { d.paused = true })
		if s := w.states[node]; s.up && !s.now.paused {
			running = append(running, node)
		}
	}
	if len(running) == 0 {
		return nil
	}
	err := w.target.Pause(running...)
	for _, node := range running {
		w.states[node].now.paused = true
		w.states[node].doubt = err != nil || w.states[node].doubt
	}
	return err
}

// How a node is brought down.
type manner func(ctx context.Context, nodes []string) error

func (w *ward) kill(_ context.Context, nodes []string) error { return w.target.Kill(nodes...) }
func (w *ward) powerLoss(_ context.Context, nodes []string) error {
	return w.target.PowerLoss(nodes...)
}

// errStubborn says that a node is down, but had to be killed.
var errStubborn = errors.New("did not end in good order and was killed")

// stop ends nodes in good order, one by one, and kills what does not end.
func (w *ward) stop(ctx context.Context, nodes []string) error {
	ctx, cancel := context.WithTimeout(ctx, stopTime)
	defer cancel()
	var errs []error
	for _, node := range nodes {
		if w.states[node].now.paused {
			errs = append(errs, w.target.Kill(node)) // it could not hear
			continue
		}
		err := w.target.Stop(ctx, node)
		if err == nil {
			continue
		}
		if killed := w.target.Kill(node); killed != nil {
			return errors.Join(err, killed)
		}
		errs = append(errs, fmt.Errorf("%s %w: %w", node, errStubborn, err))
	}
	return errors.Join(errs...)
}

// isDown says whether nodes are down after a manner of bringing them down returned err.
func isDown(err error) bool { return err == nil || errors.Is(err, errStubborn) }

// down brings all the nodes that run down with one call. They stay down until no fault wants it any more.
func (w *ward) down(ctx context.Context, fault string, how manner, nodes []string) error {
	defer w.lock(nodes)()
	var running []string
	for _, node := range nodes {
		w.want(fault, node, func(d *demand) { d.down = true })
		if w.states[node].up {
			running = append(running, node)
		}
	}
	if len(running) == 0 {
		return nil
	}
	err := how(ctx, running)
	for _, node := range running {
		w.states[node].doubt = !isDown(err) || w.states[node].doubt
		w.states[node].up = !isDown(err) // if that failed, nobody knows: settle kills again
		w.states[node].now.paused = w.states[node].now.paused && w.states[node].up
	}
	return err
}

// release takes back all that a fault wants, and makes its nodes and links so. It says whatever it could not do.
func (w *ward) release(ctx context.Context, fault string) error {
	errs := []error{w.links.release(fault)}
	for _, node := range w.nodes {
		w.mu.Lock()
		_, concerned := w.demands[node][fault]
		delete(w.demands[node], fault)
		w.mu.Unlock()
		if concerned {
			errs = append(errs, w.settle(ctx, node))
		}
	}
	return errors.Join(errs...)
}

// faults are the names of all who want something.
func (w *ward) faults() []string {
	names := w.links.faults()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, demands := range w.demands {
		for name := range demands {
			names[name] = true
		}
	}
	delete(names, outcast)
	return slices.Sorted(maps.Keys(names))
}

// settle makes a node what all faults together want of it.
func (w *ward) settle(ctx context.Context, node string) error {
	defer w.lock([]string{node})()
	return w.settleLocked(ctx, node)
}

// settleLocked is settle for who has the node's lock. The order matters: a disk has room and a clock is set before the process
// starts, a process goes on before it is asked to end, and is paused last.
func (w *ward) settleLocked(ctx context.Context, node string) error {
	s, want := w.states[node], w.wanted(node)
	doubt := s.doubt
	s.doubt = false
	var errs []error
	try := func(needed bool, call func() error) bool {
		if !needed {
			return true
		}
		err := call()
		if err != nil {
			s.doubt = true
			errs = append(errs, err)
		}
		return err == nil
	}
	if want.down && s.up {
		s.up = !try(true, func() error { return w.target.Kill(node) })
		s.now.paused = s.now.paused && s.up
	}
	if try(s.now.full != want.full || doubt && !want.full, func() error { return w.target.Fill(node, want.full) }) {
		s.now.full = want.full
	}
	if try(s.now.clock != want.clock || doubt && want.clock == 0, func() error { return w.target.Clock(node, want.clock) }) {
		s.now.clock = want.clock
	}
	if s.up && s.now.paused && !want.paused {
		s.now.paused = !try(true, func() error { return w.target.Resume(node) })
	}
	if s.up && !s.now.paused && !sameLife(s.now.life, want.life) {
		var err error
		try(true, func() error { err = w.stop(ctx, []string{node}); return err })
		s.up = !isDown(err)
	}
	if !s.up && !want.down {
		starting, cancel := context.WithTimeout(ctx, stopTime)
		s.up = try(true, func() error { return w.target.Start(starting, node, want.life) })
		cancel()
		s.now.life, s.now.paused = want.life, false
		doubt = doubt || want.disk != Disk{}
	}
	if s.up || want.disk == (Disk{}) {
		if try(s.now.disk != want.disk || doubt && (want.disk == Disk{} || s.up), func() error { return w.target.Disk(node, want.disk) }) {
			s.now.disk = want.disk
		}
	}
	if s.up && !s.now.paused && want.paused {
		s.now.paused = try(true, func() error { return w.target.Pause(node) })
	}
	if len(errs) > 0 {
		return fmt.Errorf("settle %s: %w", node, errors.Join(errs...))
	}
	return nil
}

// revive starts a node again that should run and was found dead. It returns whether it did so.
func (w *ward) revive(ctx context.Context, node string) (bool, error) {
	defer w.lock([]string{node})()
	s := w.states[node]
	if want := w.wanted(node); want.down || want.paused || s.now.paused {
		return false, nil
	}
	if err := w.target.Kill(node); err != nil {
		return false, fmt.Errorf("revive %s: %w", node, err)
	}
	s.up = false // it is not paused either, see above
	return true, w.settleLocked(ctx, node)
}

// restart ends a node in good order and starts it again, unless a fault has it down or paused. It returns whether it did so.
func (w *ward) restart(ctx context.Context, node string) (bool, error) {
	defer w.lock([]string{node})()
	s := w.states[node]
	if want := w.wanted(node); want.down || want.paused || !s.up || s.now.paused {
		return false, nil
	}
	err := w.stop(ctx, []string{node})
	if s.up = !isDown(err); s.up {
		return false, err
	}
	return true, errors.Join(err, w.settleLocked(ctx, node))
}
