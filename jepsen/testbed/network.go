package testbed

import (
	"context"
	"net"

	"github.com/leasehold/leasehold/jepsen/nemesis"
)

// network is what carries bytes between nodes, and between nodes and clients.
type network interface {
	// supports says whether the network can do something, and if not, why.
	supports(nemesis.Capability) error
	// addresses tells where a node listens and where it finds the others.
	addresses(node string) addresses
	// launcher is the thread that starts a node's processes where the network wants them.
	launcher(node string) *launcher
	// set changes a direction's condition, which was checked.
	set(direction, nemesis.Condition)
	// up and down are told when a node's process was started and when it has ended. Calls for one node alternate.
	up(node string) error
	down(node string)
	// dial reaches a node's API as a client does; inside reaches it past every fault, for the harness itself.
	dial(ctx context.Context, node string) (net.Conn, error)
	inside(ctx context.Context, node string) (net.Conn, error)
	// close ends everything. All nodes are down.
	close() error
}

// addresses are a node's, each host:port.
type addresses struct {
	api    string            // where its API listens
	peer   string            // where it listens for its peers
	public string            // where clients reach the API
	peers  map[string]string // where it reaches every node, itself included
}
