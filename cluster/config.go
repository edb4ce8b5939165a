package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// Config is all that Open needs. Everything that touches the world comes in as a value, so that the same node runs
// over TLS and disks, in one process with its peers, and in a synctest bubble. Zero tunables take their defaults.
type Config struct {
	// ID names this node for good; a data directory belongs to one ID.
	ID string
	// Initial holds the members that form a new cluster, this one included: ID to the address of its peer port. It is
	// ignored once a data directory belongs to a cluster.
	Initial map[string]string
	// Incarnation is the random name of this node's data directory: a directory made anew has another one.
	Incarnation string

	// Transport carries Raft's own traffic. Its addresses are node IDs: LocalAddr must be ID. Open wraps it.
	Transport raft.Transport
	// Listener accepts, and Dial opens, the connections on which nodes call each other. Close closes Listener. Where
	// an accepted connection has a method PeerID() string, the caller must be that node.
	Listener net.Listener
	Dial     func(ctx context.Context, id string) (net.Conn, error)

	// Dir is where the stores are, or else Logs, Stable and Snapshots are they. Open puts the guards before either.
	Dir       string
	Logs      raft.LogStore
	Stable    raft.StableStore
	Snapshots raft.SnapshotStore
	// Release closes what was opened for this node alone besides the stores in Dir. It is called last, also when Open
	// fails, and may be nil.
	Release func() error

	// Exit ends the process: what was asked of the disk or of the log cannot be trusted any more. It may return (in
	// a test); the node then does nothing further.
	Exit   func(error)
	Logger hclog.Logger

	// ElectionTimeout is Raft's heartbeat, election and lease timeout alike: with heartbeats on the main loop a
	// shorter lease costs the leadership whenever two disks stall. Default 500 ms.
	ElectionTimeout time.Duration
	// CommitTimeout is how long a follower may go without news of the commit index if nothing else carries it.
	// Default 20 ms.
	CommitTimeout time.Duration
	// MaxAppendEntries bounds the entries of one append call. With MaxEntry it keeps a call under 16 MiB. Default 64.
	MaxAppendEntries int
	// MaxEntry bounds the bytes of commands gathered into one log entry; a larger object gets an entry of its own.
	// Default 256 KiB.
	MaxEntry int
	// MaxCommand is the largest command that is taken at all, in bytes. Default 4 MiB.
	MaxCommand int
	// MaxWaiting bounds the bytes, and MaxWaitingCommands the number, of proposals that wait on this node for their
	// turn. Beyond them Propose answers ErrOverloaded. Defaults 64 MiB and 16384.
	MaxWaiting         int
	MaxWaitingCommands int

	// SnapshotBytes is how many bytes of log are applied between two snapshots. Default 64 MiB.
	SnapshotBytes int64
	// TrailingBytes is how much of the log stays after a snapshot, for followers that were away. Default 64 MiB.
	TrailingBytes int64
	// HistoryAge and HistoryBytes bound what watches can ask for; the leader forgets for all. HistoryAge is at least
	// 75 s. Defaults 5 min and 256 MiB.
	HistoryAge   time.Duration
	HistoryBytes int
	// TailEvents and TailBytes bound the history inside a snapshot. Defaults 200000 and 64 MiB.
	TailEvents int
	TailBytes  int
}

// MinHistoryAge is the shortest history age allowed: a client that lost its watch needs that long to come back.
const MinHistoryAge = 75 * time.Second

// Validate reports what is missing or cannot work, all at once.
func (c *Config) Validate() error {
	var problems []error
	require := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	require(c.ID != "", "no node ID")
	require(c.Incarnation != "", "no incarnation")
	require(c.Transport != nil, "no transport")
	require(c.Listener != nil && c.Dial != nil, "no listener or no dialer for calls between nodes")
	given := c.Logs != nil && c.Stable != nil && c.Snapshots != nil
	require(given != (c.Dir != ""), "either a directory for the stores or all three of them are needed")
	require(c.Exit != nil, "no way to end the process")
	require(c.Logger != nil, "no logger")
	if len(c.Initial) > 0 {
		_, present := c.Initial[c.ID]
		require(present, "node %q is not among the initial members", c.ID)
	}
	if c.Transport != nil {
		local := string(c.Transport.LocalAddr())
		require(local == c.ID, "transport calls itself %q, not by the node's ID %q", local, c.ID)
	}
	require(c.HistoryAge == 0 || c.HistoryAge >= MinHistoryAge, "history age %v is shorter than %v", c.HistoryAge, MinHistoryAge)
	require(c.ElectionTimeout == 0 || c.ElectionTimeout >= 5*time.Millisecond, "election timeout %v is too short", c.ElectionTimeout)
	return errors.Join(problems...)
}

// withDefaults fills in the tunables that were left at zero.
func (c Config) withDefaults() Config {
	fill(&c.ElectionTimeout, 500*time.Millisecond)
	fill(&c.CommitTimeout, 20*time.Millisecond)
	fill(&c.MaxAppendEntries, 64)
	fill(&c.MaxEntry, 256<<10)
	fill(&c.MaxCommand, 4<<20)
	fill(&c.MaxWaiting, 64<<20)
	fill(&c.MaxWaitingCommands, 16384)
	fill(&c.SnapshotBytes, 64<<20)
	fill(&c.TrailingBytes, 64<<20)
	fill(&c.HistoryAge, 5*time.Minute)
	fill(&c.HistoryBytes, 256<<20)
	fill(&c.TailEvents, 200_000)
	fill(&c.TailBytes, 64<<20)
	return c
}

func fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// raftConfig is what the library is told.
func (c *Config) raftConfig() *raft.Config {
	config := raft.DefaultConfig()
	config.LocalID = raft.ServerID(c.ID)
	config.HeartbeatTimeout = c.ElectionTimeout
	config.ElectionTimeout = c.ElectionTimeout
	config.LeaderLeaseTimeout = c.ElectionTimeout
	config.CommitTimeout = c.CommitTimeout
	config.MaxAppendEntries = c.MaxAppendEntries
	config.BatchApplyCh = true
	// Snapshots are taken by bytes, in snapshot.go; the library's own count must never be reached.
	config.SnapshotThreshold = 1 << 62
	config.TrailingLogs = 10_000
	config.ShutdownOnRemove = false
	config.NoLegacyTelemetry = true
	config.Logger = c.Logger.Named("raft")
	return config
}
