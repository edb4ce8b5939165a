package testbed

import (
	"errors"
	"fmt"

	"github.com/leasehold/leasehold/jepsen/nemesis"
)

// Supports says whether a capability is there, and if not, why.
func (t *Testbed) Supports(c nemesis.Capability) error {
	switch c {
	case nemesis.CanStallDisk:
		return supportsTracing()
	case nemesis.CanSetClock:
		return t.supportsClock()
	case nemesis.CanScaleTimeouts:
		if !t.scalable {
			return fmt.Errorf("%s: this server has no flag --election-timeout: %w", c, nemesis.ErrUnsupported)
		}
		return nil
	case nemesis.CanTransfer:
		return nil // the server may yet answer that it cannot
	case nemesis.CanChangeMembers:
		return fmt.Errorf("%s: the server has no commands for it: %w", c, nemesis.ErrUnsupported)
	}
	return errors.Join(t.net.supports(c), t.disks.supports(c))
}

// Link sets what happens to what one place sends to another.
func (t *Testbed) Link(from, to string, c nemesis.Condition) error {
	d := direction{from, to}
	if err := checkLink(t.order, d, c); err != nil {
		return err
	}
	if c.Loss > 0 {
		if err := t.Supports(nemesis.CanLosePackets); err != nil {
			return fmt.Errorf("link from %s to %s: %w", from, to, err)
		}
	}
	t.net.set(d, c)
	if c == (nemesis.Condition{}) {
		t.Refresh(from, to) // what is left of connections from before is not worth waiting for
	}
	return nil
}

// PowerLoss kills nodes and takes from their disks what these had not been told to keep.
func (t *Testbed) PowerLoss(names ...string) error {
	nodes, err := t.find(names...)
	if err != nil {
		return fmt.Errorf("power loss: %w", err)
	}
	if err := t.disks.supports(nemesis.CanLosePower); err != nil {
		return fmt.Errorf("power loss: %w", err)
	}
	if err := t.Kill(names...); err != nil {
		return fmt.Errorf("power loss: %w", err)
	}
	return t.disks.losePower(nodes)
}

// Fill takes a node's disk's last byte, or gives the space back.
func (t *Testbed) Fill(name string, full bool) error {
	nodes, err := t.find(name)
	if err != nil {
		return fmt.Errorf("fill: %w", err)
	}
	return t.disks.fill(nodes[0], full)
}

// closeFaults ends what does harm by itself.
func (t *Testbed) closeFaults() error {
	var faults []error
	for _, n := range t.nodes {
		n.mu.Lock()
		faults = append(faults, n.untamper())
		n.mu.Unlock()
	}
	return errors.Join(faults...)
}
