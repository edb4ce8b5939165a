package cluster

import (
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"
)

// trio is three raft nodes in one process behind the guards, for tests of what the guards promise. It runs inside
// testing/synctest, where time is exact and costs nothing.
type trio struct {
	t     *testing.T
	nodes map[raft.ServerID]*trioNode
}

type trioNode struct {
	id        raft.ServerID
	wire      *raft.InmemTransport
	transport *transport
	disk      *disk
	logs      *raft.InmemStore
	raft      *raft.Raft
	machine   *ledger

	mu    sync.Mutex // guards fatal
	fatal []error    // what would have ended the process
}

func inTrio(t *testing.T, change func(*raft.Config), f func(c *trio)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := newTrio(t, change, func(s *stores) *stores { return s })
		defer c.stop()
		f(c)
	})
}

// newTrio starts the nodes. Change may be nil; wrap may take guards off the stores.
func newTrio(t *testing.T, change func(*raft.Config), wrap func(*stores) *stores) *trio {
	c := &trio{t: t, nodes: make(map[raft.ServerID]*trioNode)}
	var servers []raft.Server
	for _, id := range []raft.ServerID{"a", "b", "c"} {
		_, wire := raft.NewInmemTransportWithTimeout(raft.ServerAddress(id), networkTimeout)
		c.nodes[id] = &trioNode{id: id, wire: wire, disk: &disk{}, machine: &ledger{}}
		servers = append(servers, raft.Server{ID: id, Address: raft.ServerAddress(id)})
	}
	for _, n := range c.nodes {
		c.connect(n.id)
		n.transport = newTransport(n.wire, n.id, hclog.NewNullLogger())
		dog := newWatchdog(n.transport.mute, n.die, hclog.NewNullLogger())
		n.logs = raft.NewInmemStore()
		stores, err := guardStores(diskLog{n.logs, n.disk}, n.logs, raft.NewInmemSnapshotStore(), "memory", dog.watch, n.die)
		require.NoError(t, err)
		stores = wrap(stores)
		config := trioConfig(n.id)
		if change != nil {
			change(config)
		}
		require.NoError(t, raft.BootstrapCluster(config, stores.log, stores.stable, stores.snapshots, n.transport,
			raft.Configuration{Servers: servers}))
		n.raft, err = raft.NewRaft(config, n.machine, stores.log, stores.stable, stores.snapshots, n.transport)
		require.NoError(t, err)
		n.transport.attach(n.raft)
	}
	return c
}

// trioConfig has the timeouts of the product.
func trioConfig(id raft.ServerID) *raft.Config {
	config := raft.DefaultConfig()
	config.LocalID = id
	config.HeartbeatTimeout = 500 * time.Millisecond
	config.ElectionTimeout = 500 * time.Millisecond
	config.LeaderLeaseTimeout = 500 * time.Millisecond
	config.CommitTimeout = 20 * time.Millisecond
	config.Logger = hclog.NewNullLogger()
	return config
}

func (c *trio) stop() {
	for _, n := range c.nodes {
		n.disk.resume()
		_ = n.transport.Close()
	}
	for _, n := range c.nodes {
		require.NoError(c.t, n.raft.Shutdown().Error())
	}
}

// connect lets a node and the others reach each other.
func (c *trio) connect(id raft.ServerID) {
	for _, other := range c.nodes {
		if other.id != id {
			other.wire.Connect(raft.ServerAddress(id), c.nodes[id].wire)
			c.nodes[id].wire.Connect(raft.ServerAddress(other.id), other.wire)
		}
	}
}

// cut keeps a node and the others from reaching each other.
func (c *trio) cut(id raft.ServerID) {
	c.nodes[id].wire.DisconnectAll()
	for _, other := range c.nodes {
		other.wire.Disconnect(raft.ServerAddress(id))
	}
}

// leader waits for the one leader among the nodes.
func (c *trio) leader(among ...*trioNode) *trioNode {
	c.t.Helper()
	if len(among) == 0 {
		among = c.others(nil)
	}
	var leader *trioNode
	eventually(c.t, 30*time.Second, func() bool {
		for _, n := range among {
			if n.raft.State() == raft.Leader && n.raft.VerifyLeader().Error() == nil {
				leader = n
				return true
			}
		}
		return false
	})
	return leader
}

func (c *trio) others(than *trioNode) []*trioNode {
	var others []*trioNode
	for _, id := range []raft.ServerID{"a", "b", "c"} {
		if c.nodes[id] != than {
			others = append(others, c.nodes[id])
		}
	}
	return others
}

func (n *trioNode) apply(t *testing.T, data string) {
	t.Helper()
	require.NoError(t, n.raft.Apply([]byte(data), 0).Error())
}

func (n *trioNode) die(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fatal = append(n.fatal, err)
}

func (n *trioNode) died() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.fatal) == 0 {
		return nil
	}
	return n.fatal[0]
}

// eventually polls a condition that another goroutine brings about. Inside synctest limit is exact.
func eventually(t *testing.T, limit time.Duration, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !condition(); time.Sleep(5 * time.Millisecond) {
		require.True(t, time.Now().Before(end), "not within %s", limit)
	}
}

// ledger is a machine that keeps what was applied.
type ledger struct {
	mu       sync.Mutex // guards all below
	applied  []string
	restores int

	onRestore func(count int) // nil is nothing
}

func (l *ledger) Apply(log *raft.Log) any {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.applied = append(l.applied, string(log.Data))
	return nil
}

func (l *ledger) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.applied...)
}

func (l *ledger) Snapshot() (raft.FSMSnapshot, error) { return ledgerSnapshot(l.all()), nil }

func (l *ledger) Restore(data io.ReadCloser) error {
	defer data.Close()
	all, err := io.ReadAll(data)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.restores++
	if l.onRestore != nil {
		l.onRestore(l.restores)
	}
	l.applied = nil
	for len(all) > 0 {
		l.applied = append(l.applied, string(all[1:1+all[0]]))
		all = all[1+all[0]:]
	}
	return nil
}

type ledgerSnapshot []string

func (s ledgerSnapshot) Persist(sink raft.SnapshotSink) error {
	for _, data := range s {
		if _, err := sink.Write(append([]byte{byte(len(data))}, data...)); err != nil {
			return err
		}
	}
	return sink.Close()
}

func (s ledgerSnapshot) Release() {}

// disk is one that can be made to hang.
type disk struct {
	mu   sync.Mutex // guards hung
	hung chan struct{}
}

func (d *disk) hang() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hung = make(chan struct{})
}

func (d *disk) resume() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.hung != nil {
		close(d.hung)
		d.hung = nil
	}
}

func (d *disk) wait() {
	d.mu.Lock()
	hung := d.hung
	d.mu.Unlock()
	if hung != nil {
		<-hung
	}
}

// diskLog is a log whose writes go to a disk.
type diskLog struct {
	*raft.InmemStore
	disk *disk
}

func (l diskLog) StoreLog(log *raft.Log) error { return l.StoreLogs([]*raft.Log{log}) }

func (l diskLog) StoreLogs(logs []*raft.Log) error {
	l.disk.wait()
	return l.InmemStore.StoreLogs(logs)
}

func (l diskLog) DeleteRange(first, last uint64) error {
	l.disk.wait()
	return l.InmemStore.DeleteRange(first, last)
}
