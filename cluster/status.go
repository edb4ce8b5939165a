package cluster

import (
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/raft"
)

// Status is what one node knows of itself.
type Status struct {
	ID            string        `json:"id"`
	Role          string        `json:"role"`   // leader, follower, candidate or stopped
	Leader        string        `json:"leader"` // ID of the leader, "" when none is known
	Term          uint64        `json:"term"`
	Revision      uint64        `json:"revision"`
	CommitIndex   uint64        `json:"commitIndex"`
	AppliedIndex  uint64        `json:"appliedIndex"`
	FirstIndex    uint64        `json:"firstIndex"` // of the log; a member that lacks an earlier entry needs a snapshot
	LastIndex     uint64        `json:"lastIndex"`
	SnapshotIndex uint64        `json:"snapshotIndex"`
	Objects       int           `json:"objects"`
	HashIndex     uint64        `json:"hashIndex"` // applied index for which Hash was computed
	Hash          string        `json:"hash"`
	LastContact   time.Duration `json:"lastContact"` // since the leader was heard of; 0 on the leader
	Ready         bool          `json:"ready"`
	NotReady      string        `json:"notReady,omitempty"` // why Ready is false
	Members       []Member      `json:"members"`
}

// Member is one entry of the cluster's configuration.
type Member struct {
	ID      string `json:"id"`
	Address string `json:"address"` // host:port of its peer port
	Voter   bool   `json:"voter"`
}

// Status describes this node, for operators. Hash reads everything stored.
func (n *Node) Status() Status {
	s := n.Summary()
	index, hash := n.machine.Hash()
	s.HashIndex, s.Hash = index, fmt.Sprintf("%016x", hash)
	return s
}

// Summary is Status without the hash: cheap enough to be asked at every scrape of metrics.
func (n *Node) Summary() Status {
	state := n.machine.State()
	current, _ := n.leaders.view()
	s := Status{
		ID:       n.config.ID,
		Role:     "stopped",
		Leader:   current.leader,
		Revision: state.Revision(),
		Objects:  state.Count("leases", "", ""),
	}
	s.AppliedIndex, _ = n.machine.Applied()
	if err := n.Ready(); err != nil {
		s.NotReady = err.Error()
	} else {
		s.Ready = true
	}
	r := n.core()
	if r == nil || n.ctx.Err() != nil {
		return s
	}
	s.Role = strings.ToLower(r.State().String())
	if s.Role == "shutdown" {
		s.Role = "stopped"
	}
	s.Term = r.CurrentTerm()
	s.CommitIndex = r.CommitIndex()
	s.LastIndex = r.LastIndex()
	s.SnapshotIndex, s.FirstIndex = n.snapshots.last(), n.snapshots.firstIndex()
	if contact := r.LastContact(); s.Role != "leader" && !contact.IsZero() {
		s.LastContact = time.Since(contact)
	}
	for _, server := range r.GetConfiguration().Configuration().Servers {
		s.Members = append(s.Members, Member{
			ID:      string(server.ID),
			Address: n.config.Initial[string(server.ID)],
			Voter:   server.Suffrage == raft.Voter,
		})
	}
	return s
}
