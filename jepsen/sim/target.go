package sim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/leasehold/leasehold/jepsen/history"
	"github.com/leasehold/leasehold/jepsen/nemesis"
)

var (
	_ nemesis.Target = (*testbed)(nil)
	_ nemesis.Keeper = (*testbed)(nil)
	_ nemesis.Census = (*testbed)(nil)
)

// Nodes implements nemesis.Target, as do the methods below.
func (b *testbed) Nodes() []string { return b.nodes }

// Supports is true of most: what is simulated can be made to go wrong. Files and clocks are not simulated.
func (b *testbed) Supports(c nemesis.Capability) error {
	switch c {
	case nemesis.CanSetClock:
		return fmt.Errorf("%w: all simulated nodes have one clock", nemesis.ErrUnsupported)
	case nemesis.CanChangeMembers:
		return fmt.Errorf("%w: clusters cannot change their members", nemesis.ErrUnsupported)
	}
	return nil
}

// Sample asks a node over the link that clients use.
func (b *testbed) Sample(ctx context.Context, node string) (history.Sample, error) {
	b.mu.Lock()
	p, err := b.place(node)
	if err != nil {
		b.mu.Unlock()
		return history.Sample{}, err
	}
	hash := time.Since(p.hashed) >= hashEvery
	if hash {
		p.hashed = time.Now()
	}
	b.mu.Unlock()
	return b.ask(ctx, node, hash)
}

// hashEvery is how often a node is asked for the hash of all that it holds, which costs more than all else that it is asked.
const hashEvery = 10 * time.Second

func (b *testbed) ask(ctx context.Context, node string, hash bool) (history.Sample, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := b.network.link(nemesis.Client, node).pass(ctx); err != nil {
		return history.Sample{}, fmt.Errorf("ask %s: %w", node, err)
	}
	l := b.enter(node)
	if l == nil {
		return history.Sample{}, fmt.Errorf("ask %s: %w", node, errRefused)
	}
	defer l.doors.Done()
	sample := l.sample(hash)
	if err := b.network.link(node, nemesis.Client).pass(ctx); err != nil {
		return history.Sample{}, fmt.Errorf("ask %s: %w", node, err)
	}
	return sample, nil
}

// Kill takes processes away. Their peers and clients are told by their machines, as far as the links let them.
func (b *testbed) Kill(nodes ...string) error {
	return b.each(nodes, func(p *place) {
		if l := p.life; l != nil {
			b.die(p)
			b.network.hangUp(l)
		}
	})
}

// PowerLoss is Kill where the machine is gone too, so that peers hear nothing until it is there again.
func (b *testbed) PowerLoss(nodes ...string) error {
	return b.each(nodes, func(p *place) {
		if l := p.life; l != nil {
			b.network.silence(l)
			p.dark = true
			b.die(p)
		}
	})
}

// Start begins a new life on what the disk holds.
func (b *testbed) Start(_ context.Context, node string, life nemesis.Life) error {
	own, err := b.settings.with(life)
	if err != nil {
		return err
	}
	b.mu.Lock()
	p, err := b.place(node)
	if err != nil || p.life != nil || p.starting || b.closed {
		b.mu.Unlock()
		return err
	}
	p.starting = true
	p.harmed = p.wiped || p.disk.ails()
	if p.dark {
		p.dark = false
		b.network.answer(p.former)
	}
	b.mu.Unlock()
	// Opening takes time, which does not pass while a mutex is waited for.
	l, err := begin(node, p.incarnation, b.network, p.disk, own, b.exited)
	b.mu.Lock()
	defer b.mu.Unlock()
	p.starting = false
	if err == nil {
		p.life = l
		b.lives++
		if l.reason != nil {
			b.collapse(p)
		}
	}
	return err
}

// Stop ends a process in good order.
func (b *testbed) Stop(ctx context.Context, node string) error { return b.stop(ctx, node) }

func (b *testbed) stop(ctx context.Context, node string) error {
	b.mu.Lock()
	p, err := b.place(node)
	if err != nil || p.life == nil || p.stopping {
		b.mu.Unlock()
		return err
	}
	l := p.life
	p.stopping = true
	b.mu.Unlock()
	err = l.stop(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	if p.life == l {
		p.former, p.life, p.stopping = l, nil, false
		b.thaw(p)
	}
	if err != nil && p.harmed {
		return nil
	}
	return err
}

// Pause makes nothing that a node sends or is sent arrive. Its clock goes on, which that of a stopped process does too, and so
// does its work, which is what the simulator cannot stop.
func (b *testbed) Pause(nodes ...string) error { return b.each(nodes, b.freeze) }

// Resume ends a Pause: all arrives.
func (b *testbed) Resume(nodes ...string) error { return b.each(nodes, b.thaw) }

// Transfer asks any node that answers.
func (b *testbed) Transfer(ctx context.Context, to string) error {
	var problems []error
	for _, node := range b.nodes {
		l := b.enter(node)
		if l == nil {
			continue
		}
		asking, cancel := context.WithTimeout(ctx, transferTime)
		_, err := l.node.TransferLeadership(asking, to)
		cancel()
		l.doors.Done()
		if err == nil {
			return nil
		}
		problems = append(problems, err)
	}
	return fmt.Errorf("no node handed over: %w", errors.Join(problems...))
}

// transferTime is how long a node is given to hand over.
const transferTime = 8 * time.Second

// Link sets a link between nodes, or between a node and the clients.
func (b *testbed) Link(from, to string, c nemesis.Condition) error { return b.network.set(from, to, c) }

// Disk sets a disk, for later lives too.
func (b *testbed) Disk(node string, d nemesis.Disk) error {
	return b.each([]string{node}, func(p *place) {
		p.harmed = p.harmed || d != nemesis.Disk{}
		p.disk.set(d)
	})
}

// Fill leaves no space on a disk.
func (b *testbed) Fill(node string, full bool) error {
	return b.each([]string{node}, func(p *place) {
		p.harmed = p.harmed || full
		p.disk.fill(full)
	})
}

// Damage takes the whole disk away; nothing less can be done to what is no file.
func (b *testbed) Damage(node string, d nemesis.Damage, seed uint64) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, err := b.place(node)
	switch {
	case err != nil:
		return "", err
	case p.life != nil:
		return "", fmt.Errorf("%s is up", node)
	case d != nemesis.Wipe:
		return "", fmt.Errorf("%w: simulated disks have no files", nemesis.ErrUnsupported)
	}
	p.wiped = true
	p.disk = p.disk.with(newDisk(p.disk.base, seed).content)
	p.incarnation = fmt.Sprintf("%s, made with %d", node, seed)
	return "took everything away", nil
}

// Keep copies the disk of a node that is down.
func (b *testbed) Keep(node string) error {
	return b.each([]string{node}, func(p *place) { p.kept, p.keptAs = p.disk.clone(), p.incarnation })
}

// Restore gives back what Keep copied.
func (b *testbed) Restore(node string) error {
	return b.each([]string{node}, func(p *place) {
		if p.kept != nil {
			p.disk, p.incarnation, p.wiped = p.disk.with(p.kept.clone().content), p.keptAs, false
		}
	})
}

// Alive says whether a node's process is there.
func (b *testbed) Alive(node string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.places[node]
	return p != nil && p.life != nil
}

// Clock cannot be set wrong, and so is right.
func (b *testbed) Clock(_ string, offset time.Duration) error {
	if offset == 0 {
		return nil
	}
	return b.Supports(nemesis.CanSetClock)
}

// levels says whether all nodes are up, ready and at the same place of the log.
func (b *testbed) levels(samples map[string]history.Sample) bool {
	applied := make(map[uint64]bool)
	for s := range maps.Values(samples) {
		applied[s.Applied] = true
		if !s.Ready {
			return false
		}
	}
	return len(samples) == len(b.nodes) && len(applied) == 1
}
