package cluster

import "fmt"

// keyOwner is where the stable store keeps the ID of the node whose data it is.
const keyOwner = "LeaseholdNode"

// own makes sure that the stores are this node's. Under another ID, as when two nodes' volumes are mounted the wrong way
// round, it would forget what it voted and acknowledged under its own.
func (n *Node) own() error {
	owner, err := n.stores.stable.Get([]byte(keyOwner))
	switch {
	case notFound(err) || err == nil && len(owner) == 0:
		return n.stores.stable.Set([]byte(keyOwner), []byte(n.config.ID))
	case err != nil:
		return err
	case string(owner) != n.config.ID:
		return fmt.Errorf("%s holds the data of node %s", n.config.Dir, owner)
	}
	return nil
}
