package clustertest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/cluster"
)

// Patience is how long the kit waits for anything before it fails the test. Machines that run tests are busy.
const Patience = 30 * time.Second

// Options shape a cluster. The zero value is a cluster over loopback with bolt stores.
type Options struct {
	// Memory keeps logs and votes in memory (they outlive a crash), and pipes take the place of sockets.
	Memory bool
	// Change edits a node's configuration before it is opened.
	Change func(*cluster.Config)
	// Logger receives what nodes log. By default warnings go to the test's log.
	Logger hclog.Logger
}

// Cluster is some nodes and the network between them. Nodes are numbered from 1; node 1 is called node-1.
type Cluster struct {
	Network *Network

	tb      testing.TB
	options Options
	members map[string]string
	places  []*place
}

// place is where one node runs: what outlives it.
type place struct {
	id     string
	dir    string
	logs   raft.LogStore
	stable raft.StableStore
	snaps  raft.SnapshotStore
	life   int
	wiped  *place // what Wipe took away
	node   *cluster.Node
}

// New opens a cluster of size nodes and closes it at the end of the test. It does not wait for an election.
func New(tb testing.TB, size int, options Options) *Cluster {
	tb.Helper()
	if options.Logger == nil {
		options.Logger = hclog.New(&hclog.LoggerOptions{Level: hclog.Error, Output: tb.Output()})
	}
	c := &Cluster{Network: NewNetwork(options.Memory), tb: tb, options: options, members: make(map[string]string)}
	for i := range size {
		id := fmt.Sprintf("node-%d", i+1)
		c.members[id] = id + ".example:7000"
		p := &place{id: id}
		if options.Memory {
			store := raft.NewInmemStore()
			p.logs, p.stable, p.snaps = store, store, raft.NewInmemSnapshotStore()
		} else {
			p.dir = tb.TempDir()
		}
		c.places = append(c.places, p)
	}
	tb.Cleanup(c.Close)
	for i := range size {
		c.Start(i + 1)
	}
	return c
}

// Node returns a node, nil while it is down.
func (c *Cluster) Node(number int) *cluster.Node { return c.places[number-1].node }

// Nodes returns all nodes that are up.
func (c *Cluster) Nodes() []*cluster.Node {
	var up []*cluster.Node
	for _, p := range c.places {
		if p.node != nil {
			up = append(up, p.node)
		}
	}
	return up
}

// Start opens a node, with the data that its last run left.
func (c *Cluster) Start(number int) {
	c.tb.Helper()
	require.NoError(c.tb, c.TryStart(number))
}

// TryStart is Start where the node may have reasons not to open.
func (c *Cluster) TryStart(number int) error {
	c.tb.Helper()
	p := c.places[number-1]
	require.Nil(c.tb, p.node, "%s is up", p.id)
	config, err := c.config(p)
	require.NoError(c.tb, err)
	if c.options.Change != nil {
		c.options.Change(&config)
	}
	p.node, err = cluster.Open(config)
	return err
}

func (c *Cluster) config(p *place) (cluster.Config, error) {
	logger := c.options.Logger.Named(p.id)
	streams, err := c.Network.Streams(p.id)
	if err != nil {
		return cluster.Config{}, err
	}
	calls, err := c.Network.Listen(p.id, "calls")
	if err != nil {
		return cluster.Config{}, err
	}
	config := cluster.Config{
		ID:          p.id,
		Initial:     c.members,
		Incarnation: fmt.Sprintf("incarnation of %s, life %d", p.id, p.life),
		Transport: raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
			Stream:  streams,
			MaxPool: 4,
			Timeout: 2 * time.Second,
			Logger:  logger.Named("transport"),
		}),
		Listener: calls,
		Dial: func(ctx context.Context, id string) (net.Conn, error) {
			return c.Network.Dial(ctx, p.id, id, "calls")
		},
		Dir:       p.dir,
		Logs:      p.logs,
		Stable:    p.stable,
		Snapshots: p.snaps,
		Exit:      func(err error) { c.tb.Errorf("%s ended its process: %v", p.id, err) },
		Logger:    logger,
	}
	return config, nil
}

// Stop closes a node in good order.
func (c *Cluster) Stop(number int) {
	c.tb.Helper()
	p := c.places[number-1]
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	require.NoError(c.tb, p.node.Close(ctx))
	p.node = nil
}

// Crash takes a node away at once: what it was about to say is never heard, and nothing is handed over.
func (c *Cluster) Crash(number int) {
	c.tb.Helper()
	p := c.places[number-1]
	for _, other := range c.places {
		if other != p {
			c.Network.Cut(p.id, other.id)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.NoError(c.tb, p.node.Close(ctx))
	p.node = nil
	for _, other := range c.places {
		c.Network.join(p.id, other.id)
	}
}

// Wipe takes a stopped node's data away: it comes back with an empty directory.
func (c *Cluster) Wipe(number int) {
	p := c.places[number-1]
	require.Nil(c.tb, p.node, "%s is up", p.id)
	before := *p
	p.wiped = &before
	p.life++
	if p.dir != "" {
		p.dir = c.tb.TempDir()
		return
	}
	store := raft.NewInmemStore()
	p.logs, p.stable, p.snaps = store, store, raft.NewInmemSnapshotStore()
}

// Swap exchanges the data of two stopped nodes.
func (c *Cluster) Swap(a, b int) {
	p, q := c.places[a-1], c.places[b-1]
	require.Nil(c.tb, p.node, "%s is up", p.id)
	require.Nil(c.tb, q.node, "%s is up", q.id)
	p.dir, q.dir = q.dir, p.dir
	p.logs, q.logs = q.logs, p.logs
	p.stable, q.stable = q.stable, p.stable
	p.snaps, q.snaps = q.snaps, p.snaps
}

// Restore gives a stopped node back what Wipe took away.
func (c *Cluster) Restore(number int) {
	p := c.places[number-1]
	require.Nil(c.tb, p.node, "%s is up", p.id)
	*p = *p.wiped
}

// Isolate cuts a node off from all others.
func (c *Cluster) Isolate(number int) {
	for i, other := range c.places {
		if i != number-1 {
			c.Network.Cut(c.places[number-1].id, other.id)
		}
	}
}

// Heal joins all nodes again.
func (c *Cluster) Heal() { c.Network.Heal() }

// WaitReady returns when all nodes that are up are ready.
func (c *Cluster) WaitReady() {
	c.tb.Helper()
	c.Eventually(func() error {
		var problems []error
		for _, node := range c.Nodes() {
			problems = append(problems, node.Ready())
		}
		return errors.Join(problems...)
	})
}

// Leader returns the number of the node that leads, once one that is up says so of itself.
func (c *Cluster) Leader() int {
	c.tb.Helper()
	leader := 0
	c.Eventually(func() error {
		for i, p := range c.places {
			if p.node == nil {
				continue
			}
			if s := p.node.Status(); s.Role == "leader" && s.Leader == p.id {
				leader = i + 1
				return nil
			}
		}
		return errors.New("no node leads")
	})
	return leader
}

// Follower returns the number of a node that is up and does not lead.
func (c *Cluster) Follower() int {
	c.tb.Helper()
	leader := c.Leader()
	for i, p := range c.places {
		if i+1 != leader && p.node != nil {
			return i + 1
		}
	}
	c.tb.Fatal("no follower is up")
	return 0
}

// Eventually returns when check returns nil, and fails the test if it does not within Patience.
func (c *Cluster) Eventually(check func() error) {
	c.tb.Helper()
	deadline := time.Now().Add(Patience)
	for {
		err := check()
		if err == nil {
			return
		}
		require.True(c.tb, time.Now().Before(deadline), "not within %v: %v", Patience, err)
		time.Sleep(5 * time.Millisecond)
	}
}

// Close closes all nodes that are up.
func (c *Cluster) Close() {
	for i, p := range c.places {
		if p.node != nil {
			c.Stop(i + 1)
		}
	}
}
