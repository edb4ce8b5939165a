package nemesis

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/leasehold/leasehold/jepsen/history"
)

// fake is a cluster that never was. It elects a leader a second after it lost one, and notes whoever breaks a rule: two
// calls for one node at once, a start of what runs, a stop of what cannot hear, files touched under a running node, more
// nodes damaged than there may be, old files given back to a node that took part with others.
type fake struct {
	names    []string
	refuse   func(Damage) bool // whether a node starts with its files damaged so
	lacks    map[Capability]bool
	failures *rand.Rand // of calls; nil for none
	letIn    bool       // let the empty in
	numb     bool       // nothing has an effect
	loses    bool       // kept files
	stuck    string     // a node that once killed does not start
	deaf     bool       // nodes do not end in good order
	failNext int        // calls that fail

	mu         sync.Mutex // never held while time goes by
	nodes      map[string]*fakeNode
	links      map[link]Condition
	leader     string
	term       uint64
	lost       time.Time // when the leader lost its majority
	began      time.Time
	violations []string
	calls      []string
}

type fakeNode struct {
	busy, up, paused, full bool
	crashed                bool // it ended by itself
	disk                   Disk
	clock                  time.Duration
	life                   Life
	damage                 Damage // its files are so
	kept                   *Damage
	joined                 bool // it took part in the cluster since its files were kept
	applied, first         uint64
	starts                 int
}

func newFake(n int) *fake {
	f := &fake{nodes: make(map[string]*fakeNode), links: make(map[link]Condition), term: 1, began: time.Now(),
		refuse: func(Damage) bool { return true }, lacks: make(map[Capability]bool)}
	for i := range n {
		name := fmt.Sprintf("node-%d", i+1)
		f.names = append(f.names, name)
		f.nodes[name] = &fakeNode{up: true}
	}
	f.leader = f.names[0]
	return f
}

func (f *fake) violate(format string, args ...any) {
	f.violations = append(f.violations, fmt.Sprintf(format, args...))
}

var errFake = errors.New("it just failed")

// call does a change to nodes that takes a few milliseconds.
func (f *fake) call(what string, nodes []string, change func(name string, n *fakeNode)) error {
	f.mu.Lock()
	f.step()
	f.calls = append(f.calls, fmt.Sprint(what, nodes))
	for _, name := range nodes {
		if f.nodes[name].busy {
			f.violate("%s %s during another call", what, name)
		}
		f.nodes[name].busy = true
	}
	fails := f.fails(20)
	f.mu.Unlock()
	time.Sleep(3 * time.Millisecond)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.step()
	for _, name := range nodes {
		f.nodes[name].busy = false
		if !fails && !(f.numb && slices.Contains([]string{"disk", "clock"}, what)) {
			change(name, f.nodes[name])
		}
	}
	if fails {
		return errFake
	}
	return nil
}

// fails says whether the next call fails, one in so many where calls fail at all.
func (f *fake) fails(oneIn int) bool {
	if f.failNext > 0 {
		f.failNext--
		return true
	}
	return f.failures != nil && f.failures.IntN(oneIn) == 0
}

func (f *fake) Nodes() []string { return f.names }

func (f *fake) Supports(c Capability) error {
	if f.lacks[c] {
		return fmt.Errorf("%s: %w", c, ErrUnsupported)
	}
	return nil
}

// runs says whether a node's process works: not whether it is of any use.
func (n *fakeNode) runs() bool { return n.up && !n.crashed && !n.paused }

func (f *fake) hears(to, from string) bool {
	c := f.links[link{from, to}]
	return !c.Drop && !c.Reset
}

func (f *fake) reach(from string) (reached []string) {
	for _, name := range f.names {
		n := f.nodes[name]
		if n.runs() && (n.damage != Wipe || f.letIn) && (name == from || f.hears(name, from) && f.hears(from, name)) {
			reached = append(reached, name)
		}
	}
	return reached
}

func (f *fake) leads(name string) bool {
	n := f.nodes[name]
	return n.runs() && (n.damage != Wipe || f.letIn) && n.disk.SyncDelay < 400*time.Millisecond && len(f.reach(name)) > len(f.names)/2
}

// step lets happen what has to by now.
func (f *fake) step() {
	now := time.Now()
	for _, name := range f.names {
		n := f.nodes[name]
		if n.up && !n.crashed && (n.full || n.disk.SyncError || n.disk.WriteError || n.damage != "" && n.damage != Wipe && f.refuse(n.damage)) {
			n.crashed = true
		}
		if n.damage != "" && n.damage != Wipe && n.runs() && len(f.reach(name)) > 1 {
			n.joined = true
		}
	}
	if f.leads(f.leader) {
		f.lost = time.Time{}
	} else if f.lost.IsZero() {
		f.lost = now
	} else if now.Sub(f.lost) > time.Second {
		for _, name := range f.names {
			if name != f.leader && f.leads(name) {
				f.leader, f.lost = name, time.Time{}
				f.term++
				break
			}
		}
	}
	if f.leads(f.leader) {
		for _, name := range f.reach(f.leader) {
			f.nodes[name].applied = uint64(now.Sub(f.began).Milliseconds())
			if len(f.nodes[name].life.Flags) > 0 {
				f.nodes[name].first = f.nodes[name].applied - f.nodes[name].applied%5000
			}
		}
	}
}

func (f *fake) Sample(ctx context.Context, node string) (history.Sample, error) {
	f.mu.Lock()
	f.step()
	n := f.nodes[node]
	delay := f.links[link{Client, node}].Delay + f.links[link{node, Client}].Delay
	lossy := f.links[link{Client, node}].Loss > 0
	answers := n.runs() && f.hears(node, Client) && f.hears(Client, node)
	f.mu.Unlock()
	if !answers {
		sleep(ctx, time.Second)
		return history.Sample{}, errors.New("no answer")
	}
	if lossy {
		delay += 200 * time.Millisecond
	}
	sleep(ctx, time.Millisecond+delay)
	if ctx.Err() != nil {
		return history.Sample{}, ctx.Err()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.step()
	s := history.Sample{Role: "follower", Term: f.term, Applied: n.applied, First: n.first}
	if f.leads(f.leader) && slices.Contains(f.reach(f.leader), node) {
		s.Leader, s.Ready = f.leader, true
		if node == f.leader {
			s.Role = leading
		}
	}
	return s, nil
}

func (f *fake) Kill(nodes ...string) error {
	return f.call("kill", nodes, func(_ string, n *fakeNode) { n.up, n.paused, n.crashed = false, false, false })
}

func (f *fake) PowerLoss(nodes ...string) error {
	return f.call("power loss", nodes, func(name string, n *fakeNode) {
		if !n.up {
			f.violate("power loss of %s, which is down", name)
		}
		n.up, n.paused, n.crashed = false, false, false
	})
}

func (f *fake) Start(ctx context.Context, node string, life Life) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return f.call("start", []string{node}, func(name string, n *fakeNode) {
		if n.up {
			f.violate("start of %s, which runs", name)
		}
		n.up, n.life, n.crashed = true, life, name == f.stuck
		n.starts++
	})
}

func (f *fake) Stop(ctx context.Context, node string) error {
	sleep(ctx, 200*time.Millisecond)
	if f.deaf {
		return errFake
	}
	return f.call("stop", []string{node}, func(name string, n *fakeNode) {
		if !n.up || n.paused {
			f.violate("stop of %s, which does not hear", name)
		}
		n.up, n.crashed = false, false
	})
}

func (f *fake) Pause(nodes ...string) error {
	return f.call("pause", nodes, func(name string, n *fakeNode) {
		if !n.up || n.paused {
			f.violate("pause of %s, which is down or paused", name)
		}
		n.paused = true
	})
}

func (f *fake) Resume(nodes ...string) error {
	return f.call("resume", nodes, func(name string, n *fakeNode) {
		if !n.up {
			f.violate("resume of %s, which is down", name)
		}
		n.paused = false
	})
}

func (f *fake) Transfer(_ context.Context, _ string) error {
	return f.call("transfer", nil, func(string, *fakeNode) {})
}

func (f *fake) Link(from, to string, c Condition) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.step()
	if from == to {
		f.violate("a link of %s to itself", from)
	}
	if f.fails(50) {
		return errFake
	}
	if !f.numb {
		f.links[link{from, to}] = c
	}
	return nil
}

func (f *fake) Disk(node string, d Disk) error {
	return f.call("disk", []string{node}, func(_ string, n *fakeNode) { n.disk = d })
}

func (f *fake) Fill(node string, full bool) error {
	return f.call("fill", []string{node}, func(_ string, n *fakeNode) { n.full = full })
}

func (f *fake) Clock(node string, offset time.Duration) error {
	return f.call("clock", []string{node}, func(_ string, n *fakeNode) { n.clock = offset })
}

func (f *fake) Damage(node string, d Damage, _ uint64) (string, error) {
	if d == TearLastBit {
		return "", fmt.Errorf("no snapshot yet: %w", ErrUnsupported)
	}
	err := f.call("damage", []string{node}, func(name string, n *fakeNode) {
		f.mustBeDown("damage", name)
		if n.kept == nil {
			f.violate("damage of %s, whose files are not kept", name)
		}
		n.damage = d
		damaged := 0
		for _, other := range f.nodes {
			if other.damage != "" {
				damaged++
			}
		}
		if damaged > (len(f.names)-1)/2 {
			f.violate("%d nodes damaged of %d", damaged, len(f.names))
		}
	})
	return "something", err
}

func (f *fake) mustBeDown(what, name string) {
	if f.nodes[name].up {
		f.violate("%s of %s, which runs", what, name)
	}
}

func (f *fake) Keep(node string) error {
	return f.call("keep", []string{node}, func(name string, n *fakeNode) {
		f.mustBeDown("keep", name)
		kept := n.damage
		n.kept, n.joined = &kept, false
	})
}

func (f *fake) Restore(node string) error {
	if f.loses {
		return errors.New("they are lost")
	}
	return f.call("restore", []string{node}, func(name string, n *fakeNode) {
		f.mustBeDown("restore", name)
		if n.kept == nil {
			f.violate("nothing is kept of %s", name)
			return
		}
		if n.joined {
			f.violate("%s took part with its damaged files, and forgets that now", name)
		}
		n.damage = *n.kept
	})
}

func (f *fake) Alive(node string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.step()
	return f.nodes[node].up && !f.nodes[node].crashed
}

// ailing tells what is not as it was.
func (f *fake) ailing() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.step()
	var ills []string
	for _, name := range f.names {
		n := f.nodes[name]
		if !n.runs() || n.full || n.disk != (Disk{}) || n.clock != 0 || len(n.life.Flags) > 0 || n.damage != "" && !n.joined {
			ills = append(ills, fmt.Sprintf("%s: %+v", name, *n))
		}
	}
	for l, c := range f.links {
		if c != (Condition{}) {
			ills = append(ills, fmt.Sprintf("%v: %+v", l, c))
		}
	}
	return ills
}

// silentFake is a fake that cannot tell who lives and keeps no files.
type silentFake struct{ Target }
