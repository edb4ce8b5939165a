package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
)

// ErrWiped says that the cluster knows this node's ID under another data directory. Whoever voted and acknowledged
// under that ID has lost its memory, so it must not take part again: remove the member, and join under a new ID.
var ErrWiped = errors.New("the cluster knows this node's ID with another data directory")

// hello opens a connection in both directions: who is there, and whom it believes to have reached.
type hello struct {
	Version     int    `json:"version"`
	ID          string `json:"id"`
	Incarnation string `json:"incarnation"`
	Peer        string `json:"peer"`
	Refusal     string `json:"refusal,omitempty"` // only in the answer: why the connection is refused
	Wiped       bool   `json:"wiped,omitempty"`   // only in the answer: the refusal is ErrWiped
}

const helloVersion = 1

// identity is what a node tells about itself and about the one who asks.
type identity struct {
	ID          string `json:"id"`
	Incarnation string `json:"incarnation"`
	Empty       bool   `json:"empty"`  // its data directory belongs to no cluster
	Formed      bool   `json:"formed"` // its machine knows the members' incarnations
	Known       string `json:"known"`  // the incarnation under which it knows the one who asks, "" if it does not

	Forming map[string]string `json:"forming,omitempty"` // incarnations that it saw when it bootstrapped
}

// known returns the incarnation under which this node knows a peer: from the machine, or from the forming that it is
// about to record there. "" if it does not know one.
func (n *Node) known(id string) string {
	if incarnation, ok := n.machine.Incarnation(id); ok {
		return incarnation
	}
	return n.forming.known()[id]
}

// check returns an error when a peer is not the one that the cluster knows by that ID.
func (n *Node) check(id, incarnation string) error {
	if known := n.known(id); known != "" && known != incarnation {
		return fmt.Errorf("node %s: %w", id, ErrWiped)
	}
	return nil
}

func (n *Node) identity(asking string) identity {
	_, formed := n.machine.Incarnation(n.config.ID)
	return identity{
		Forming:     n.forming.known(),
		ID:          n.config.ID,
		Incarnation: n.config.Incarnation,
		Empty:       n.empty.Load(),
		Formed:      formed,
		Known:       n.known(asking),
	}
}

func encodeJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain structs of strings and numbers
	}
	return data
}
