package testbed

import (
	"fmt"

	"github.com/leasehold/leasehold/jepsen/nemesis"
)

// disks is what nodes keep their data on.
type disks interface {
	// supports says whether the disks can do something, and if not, why.
	supports(nemesis.Capability) error
	// losePower takes from the disks of nodes that are down what they had not been told to keep.
	losePower(nodes []*node) error
	// fill takes a disk's last byte, or gives the space back.
	fill(n *node, full bool) error
	// close gives everything back but the files. All nodes are down.
	close() error
}

// folders are disks that are mere directories.
type folders struct{ mode Mode }

func (f folders) supports(c nemesis.Capability) error {
	switch c {
	case nemesis.CanLosePower, nemesis.CanFillDisk:
		return fmt.Errorf("in mode %s nodes have no disks of their own: %w", f.mode, nemesis.ErrUnsupported)
	}
	return nil
}

func (f folders) losePower([]*node) error { return f.supports(nemesis.CanLosePower) }
func (f folders) fill(*node, bool) error  { return f.supports(nemesis.CanFillDisk) }
func (f folders) close() error            { return nil }
