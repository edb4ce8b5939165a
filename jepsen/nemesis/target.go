package nemesis

import (
	"context"
	"time"

	"github.com/leasehold/leasehold/jepsen/history"
)

// Client is the name, among nodes, of the place where the harness's own clients are.
const Client = "client"

// Target is a cluster that faults can be done to. Every method returns once the fault is in force, and an error if it is
// not. What a place cannot do is answered with an error that wraps ErrUnsupported.
//
// To do a thing twice, or to heal what is well, is no error: Kill may name a node that died by itself, Resume one that goes on.
// What Link, Disk, Fill and Clock set holds until they set something else, and may be set while the node is down.
type Target interface {
	// Nodes are the names of all nodes, whether they run or not.
	Nodes() []string
	// Supports says whether a capability is there, and if not, why.
	Supports(Capability) error
	// Sample asks a node about itself. It fails where the node does not answer within a second or so.
	Sample(ctx context.Context, node string) (history.Sample, error)

	// Kill sends SIGKILL to all the nodes in the same instant. Start starts nodes that are down, with the flags and
	// environment added for this life alone; it does not wait until they are ready. Stop ends a node in good order.
	Kill(nodes ...string) error
	Start(ctx context.Context, node string, life Life) error
	Stop(ctx context.Context, node string) error
	// Pause stops the processes where they stand; Resume lets them go on.
	Pause(nodes ...string) error
	Resume(nodes ...string) error
	// PowerLoss kills the nodes in the same instant, and what their disks had not been told to keep is gone. They are
	// down until Start.
	PowerLoss(nodes ...string) error
	// Transfer asks the leader to hand over to a node, "" for any.
	Transfer(ctx context.Context, to string) error

	// Link sets what happens to packets from one node to another, or from and to Client. The zero value is a good link.
	Link(from, to string, c Condition) error
	// Disk sets what happens when a running node syncs or writes. The zero value is a good disk.
	Disk(node string, d Disk) error
	// Fill leaves a node's disk without a free byte, or gives the space back.
	Fill(node string, full bool) error
	// Damage changes the files of a node that is down: it says what it did.
	Damage(node string, d Damage, seed uint64) (string, error)
	// Clock sets a node's wall clock off by offset. Zero is right.
	Clock(node string, offset time.Duration) error
}

// Keeper is a Target that can give a node's files back. Without one a node whose files were damaged stays out of the cluster.
type Keeper interface {
	// Keep copies the files of a node that is down aside, in place of an earlier copy.
	Keep(node string) error
	// Restore gives a node that is down the files that were kept.
	Restore(node string) error
}

// Census is a Target that knows which processes live. Without one a node is taken for dead that is silent for long.
type Census interface {
	// Alive says whether the node's process is there, paused or not.
	Alive(node string) bool
}

// Capability is something that not every place and binary can do.
type Capability string

const (
	CanLoseTrafficOneWay Capability = "one-way"    // a Condition that differs by direction
	CanLosePackets       Capability = "loss"       // Condition.Loss
	CanDelay             Capability = "delay"      // Condition.Delay
	CanReset             Capability = "reset"      // Condition.Reset
	CanLosePower         Capability = "power-loss" // PowerLoss
	CanStallDisk         Capability = "slow-disk"  // Disk
	CanFillDisk          Capability = "disk-full"  // Fill
	CanSetClock          Capability = "clock"      // Clock
	CanTransfer          Capability = "transfer"   // Transfer
	CanChangeMembers     Capability = "member"
	CanScaleTimeouts     Capability = "clock-rate" // the flag --election-timeout
	CanKeepFiles         Capability = "keep-files" // a Keeper; no place need answer for it
)

// Life is what one run of a node's process gets besides its usual flags and environment.
type Life struct {
	Flags []string
	Env   []string
}

// Condition is what happens to packets on their way in one direction.
type Condition struct {
	Drop   bool          // all vanish
	Reset  bool          // connections are answered with a reset
	Loss   float64       // share that vanishes, 0 to 1
	Delay  time.Duration // added to each
	Jitter time.Duration // up to so much more or less
}

// Disk is what happens on a node's disk.
type Disk struct {
	SyncDelay  time.Duration // added to each sync
	SyncError  bool          // each sync fails with an I/O error
	WriteError bool          // each write fails with no space left
}

// Damage is done to the files of a node that is down.
type Damage string

const (
	FlipBit     Damage = "flip-bit"      // in the log's file
	Truncate    Damage = "truncate"      // the log's file
	TearLastBit Damage = "tear-snapshot" // a bit of the newest snapshot, if there is one
	Wipe        Damage = "wipe"          // the whole data directory
)
