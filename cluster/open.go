package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"

	"github.com/leasehold/leasehold/fsm"
	"github.com/leasehold/leasehold/fsm/seeded"
)

// Open starts a node. It returns as soon as the node runs, which is long before it is ready if its peers are not there
// or its data directory is empty: Ready tells. A node that opens a directory with data never forms a new cluster.
func Open(config Config) (*Node, error) {
	n, err := prepare(config)
	if err != nil {
		if config.Listener != nil {
			_ = config.Listener.Close()
		}
		if transport, ok := config.Transport.(raft.WithClose); ok {
			_ = transport.Close()
		}
		if config.Release != nil {
			err = errors.Join(err, config.Release())
		}
		return nil, fmt.Errorf("open node %s: %w", config.ID, err)
	}
	return n, nil
}

// prepare builds the node and starts its goroutines.
func prepare(config Config) (*Node, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	config = config.withDefaults()
	if seeded.WatchGapAfterSnapshot {
		config.TailEvents = -1
	}
	inner, ok := config.Transport.(innerTransport)
	if !ok {
		return nil, errors.New("the transport lacks pre-vote or a way to close it")
	}
	n := &Node{
		config:    config,
		logger:    config.Logger.Named("cluster"),
		machine:   fsm.New(fsm.Options{TailEvents: config.TailEvents, TailBytes: config.TailBytes}),
		leaders:   newLeaders(),
		readiness: newReadiness(),
		closed:    make(chan struct{}),
	}
	n.transport = newTransport(inner, raft.ServerID(config.ID), n.logger)
	n.ctx, n.stop = context.WithCancel(context.Background())
	n.proposer = newProposer(n)
	n.committer = newCommitter(n)
	n.teller = newTeller(n)
	n.links = newLinks(n)
	n.server = newServer(n)
	n.barriers.work, n.barriers.limit = n.barrier, 2
	n.rounds.work, n.rounds.limit = n.round, 1

	if err := n.openStores(); err != nil {
		return nil, err
	}
	if err := n.resume(); err != nil {
		return nil, errors.Join(err, n.stores.Close())
	}
	n.tasks.Go(n.server.run)
	go n.committer.collect()
	n.tasks.Go(func() { n.proposer.run(n.ctx) })
	n.tasks.Go(func() { n.proposer.runSettle(n.ctx) })
	n.tasks.Go(func() { n.compact(n.ctx) })
	n.takesPart.Go(func() { n.takePart(n.ctx) })
	return n, nil
}

func (n *Node) openStores() (err error) {
	n.watchdog = newWatchdog(n.transport.mute, n.config.Exit, n.logger)
	if n.config.Dir != "" {
		n.stores, err = openStores(n.config.Dir, n.watchdog.watch, n.config.Exit, n.logger)
	} else {
		n.stores, err = guardStores(n.config.Logs, n.config.Stable, n.config.Snapshots, "memory", n.watchdog.watch, n.config.Exit)
	}
	return err
}

// resume takes part at once where a former run of this node left off.
func (n *Node) resume() error {
	if err := n.own(); err != nil {
		return err
	}
	n.snapshots = &snapshots{store: n.stores.snapshots, log: n.stores.log, logger: n.logger}
	if err := n.loadForming(); err != nil {
		return err
	}
	exists, err := raft.HasExistingState(n.stores.log, n.stores.stable, n.stores.snapshots)
	if err != nil {
		return err
	}
	unformed, err := n.unformed()
	if err != nil {
		return err
	}
	n.empty.Store(!exists || unformed)
	if n.empty.Load() {
		return nil
	}
	return n.join()
}

// join makes this node take part in Raft.
func (n *Node) join() error {
	r, err := raft.NewRaft(n.config.raftConfig(), counted{n.machine, n.snapshots}, n.stores.log, n.stores.stable, n.stores.snapshots, n.transport)
	if err != nil {
		return err
	}
	n.transport.attach(r)
	n.raft.Store(r)
	n.empty.Store(false)
	return nil
}

// takePart does what takes its time: it joins when this node may, and then follows the leader until ctx ends.
func (n *Node) takePart(ctx context.Context) {
	if n.core() == nil {
		err := n.admit(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			err = n.join()
		}
		if err != nil {
			n.readiness.fail(err)
			n.config.Exit(fmt.Errorf("node %s cannot start: %w", n.config.ID, err))
			return
		}
	}
	r := n.core()
	n.tasks.Go(func() { n.snapshots.run(ctx, r, &n.config) })
	n.tasks.Go(func() { n.readiness.run(ctx, n.Barrier) })
	n.follow(ctx, r)
}

// Close hands leadership over, stops all goroutines of the node and closes its stores, in that order. Watches end
// first; proposals that are on their way get the time that ctx allows.
func (n *Node) Close(ctx context.Context) error {
	n.closing.Do(func() {
		defer close(n.closed)
		n.readiness.stop()
		n.proposer.close()
		n.drain(ctx)
		n.handOver(ctx)
		n.failure = n.shut()
	})
	<-n.closed
	return n.failure
}

// drain waits until nothing that was proposed here is on its way any more, or ctx ends. What other nodes still send to
// this leader is not waited for: under load that never ends. They send it again to the next one.
func (n *Node) drain(ctx context.Context) {
	for !n.proposer.idle() {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// shut stops everything, in an order in which nobody waits for somebody already gone.
func (n *Node) shut() error {
	n.stop()
	n.takesPart.Wait()
	n.committer.drain(2 * n.config.ElectionTimeout)
	_ = n.config.Listener.Close()
	n.links.close()
	n.server.close()
	var problems []error
	if r := n.core(); r != nil {
		done := make(chan error, 1)
		go func() { done <- r.Shutdown().Error() }()
		select {
		case err := <-done:
			problems = append(problems, err)
		case <-time.After(shutTimeout):
			problems = append(problems, errors.New("raft has not stopped: a store call hangs"))
		}
	}
	problems = append(problems, n.transport.Close())
	n.tasks.Wait()
	n.teller.wait()
	n.committer.close()
	n.proposer.stop()
	problems = append(problems, n.stores.Close())
	if n.config.Release != nil {
		problems = append(problems, n.config.Release())
	}
	return errors.Join(problems...)
}

// shutTimeout is how long a node waits for Raft to stop. Only a hung disk takes longer.
const shutTimeout = 10 * time.Second
