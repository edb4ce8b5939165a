package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/leasehold/leasehold/jepsen/history"
	"github.com/leasehold/leasehold/jepsen/nemesis"
)

// testbed is a cluster in this process. It is the nemesis.Target of a simulation.
type testbed struct {
	network  *network
	settings *settings
	nodes    []string

	ctx   context.Context // ends with the testbed
	end   context.CancelFunc
	tasks sync.WaitGroup // all goroutines that end with it, and the burials

	mu        sync.Mutex // guards what follows
	rand      *rand.Rand
	places    map[string]*place
	lives     int      // of processes
	snapshots int      // taken on disks that are gone or closed
	exits     []string // of processes that ended themselves and had no reason to
	closed    bool
}

// place is where a node runs: what outlives its process.
type place struct {
	id          string
	incarnation string
	disk        *disk
	life        *process // nil while down
	former      *process // the last one
	dark        bool     // it went without a word
	paused      bool
	starting    bool
	stopping    bool
	kept        *disk
	keptAs      string    // the incarnation of kept
	harmed      bool      // its disk fails, or is not the one it was, so that its process may end itself
	wiped       bool      // and is not the one it was
	hashed      time.Time // when it was last asked for its hash
}

// timing is how long things take when nothing is wrong.
type timing struct{ link, sync time.Duration }

// newTestbed opens a cluster of that many nodes.
func newTestbed(size int, s *settings, t timing, seed uint64) (*testbed, error) {
	b := &testbed{settings: s, rand: rand.New(rand.NewPCG(seed, 3)), places: make(map[string]*place)}
	b.ctx, b.end = context.WithCancel(context.Background())
	s.members = make(map[string]string)
	for i := range size {
		id := fmt.Sprintf("node-%d", i+1)
		b.nodes = append(b.nodes, id)
		s.members[id] = id + ".example:7000"
		b.places[id] = &place{id: id, incarnation: fmt.Sprintf("%s, made first", id), disk: newDisk(t.sync, seed+uint64(i))}
	}
	b.network = newNetwork(append([]string{nemesis.Client}, b.nodes...), t.link, seed)
	for _, id := range b.nodes {
		if err := b.Start(b.ctx, id, nemesis.Life{}); err != nil {
			return nil, errors.Join(err, b.close())
		}
	}
	return b, nil
}

// client returns the way of clients to a node.
func (b *testbed) client(node string) *http.Client {
	return &http.Client{Transport: &door{testbed: b, node: node}}
}

// enter returns the process of a node that takes requests, nil if there is none. Whoever enters calls doors.Done.
func (b *testbed) enter(node string) *process {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.places[node]
	if p.life == nil || p.stopping {
		return nil
	}
	p.life.doors.Add(1)
	return p.life
}

// after runs f aside; the testbed waits for it when it is closed.
func (b *testbed) after(f func(ctx context.Context)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.tasks.Go(func() { f(b.ctx) })
	}
}

// close stops all nodes and returns when every goroutine has ended.
func (b *testbed) close() error {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	var problems []error
	for _, id := range b.nodes {
		_ = b.Resume(id)
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		problems = append(problems, b.stop(ctx, id))
		cancel()
	}
	b.end()
	b.tasks.Wait()
	for _, id := range b.nodes {
		b.snapshots += b.places[id].disk.snapshots()
	}
	// What is on its way arrives, and who waits for it ends. In a bubble time stops when its first goroutine ends.
	time.Sleep(time.Minute)
	return errors.Join(problems...)
}

// exited is told that a process ended itself.
func (b *testbed) exited(of *process, reason error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	of.reason = reason
	if p := b.places[of.id]; p.life == of {
		b.collapse(p)
	} // else it was dead already and nobody heard it, or has not quite begun
}

// collapse is the death of a process that ended itself. The caller holds mu.
func (b *testbed) collapse(p *place) {
	l := p.life
	if !p.harmed {
		b.exits = append(b.exits, fmt.Sprintf("%s ended its process: %v", p.id, l.reason))
	}
	b.die(p)
	b.network.hangUp(l)
}

// die takes a process away at once: what it was about to say or write is never heard or read. The caller holds mu.
func (b *testbed) die(p *place) {
	l := p.life
	if l == nil {
		return
	}
	l.end()
	p.disk = l.disk.split()
	b.snapshots += l.disk.snapshots()
	p.former, p.life, p.stopping = l, nil, false
	b.thaw(p)
	b.tasks.Go(l.bury)
}

// freeze and thaw: the caller holds mu.
func (b *testbed) freeze(p *place) {
	if !p.paused && p.life != nil {
		p.paused = true
		b.network.freeze(p.id, 1)
	}
}

func (b *testbed) thaw(p *place) {
	if p.paused {
		p.paused = false
		b.network.freeze(p.id, -1)
	}
}

// place is that of a node. The caller holds mu.
func (b *testbed) place(node string) (*place, error) {
	p := b.places[node]
	if p == nil {
		return nil, fmt.Errorf("there is no node %q", node)
	}
	return p, nil
}

// each does something to the places of nodes, holding mu.
func (b *testbed) each(nodes []string, do func(*place)) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, node := range nodes {
		if _, err := b.place(node); err != nil {
			return err
		}
	}
	for _, node := range nodes {
		do(b.places[node])
	}
	return nil
}

// sample is what a node says of itself, with the hash if it is wanted: that reads everything stored.
func (l *process) sample(hash bool) history.Sample {
	status := l.node.Summary()
	if hash {
		status = l.node.Status()
	}
	return history.Sample{
		Role: status.Role, Leader: status.Leader, Term: status.Term, Revision: status.Revision, Commit: status.CommitIndex,
		Applied: status.AppliedIndex, HashIndex: status.HashIndex, Hash: status.Hash, Ready: status.Ready,
	}
}
