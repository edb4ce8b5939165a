package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"github.com/leasehold/leasehold/fsm"
)

// keyForming is where the member that bootstraps keeps the incarnations it saw, in its stable store.
const keyForming = "LeaseholdForming"

// askAgain is the pause between two rounds of questions to the other initial members.
const askAgain = 100 * time.Millisecond

// forming is what the bootstrapping member knows before the cluster does: the incarnation of every initial member's
// data directory. It is stored before the cluster exists, and after a crash on the way the member goes on with it: those
// whom it knows may have joined already, and it would wait for ever for them to be empty.
type forming struct {
	mu           sync.Mutex // guards incarnations
	incarnations map[string]string
}

// known returns the incarnations, nil on a member that has not bootstrapped a cluster. They never change.
func (f *forming) known() map[string]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.incarnations
}

// loadForming reads what an earlier run of this node stored.
func (n *Node) loadForming() error {
	data, err := n.stores.stable.Get([]byte(keyForming))
	if notFound(err) || err == nil && len(data) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	n.forming.mu.Lock()
	defer n.forming.mu.Unlock()
	return json.Unmarshal(data, &n.forming.incarnations)
}

// admit returns once this node may take part in Raft. A node with data may at once. One with an empty directory may
// when a cluster is being formed with it or its very directory is a member already; if its ID is known with another
// directory it was wiped and never may (ErrWiped).
func (n *Node) admit(ctx context.Context) error {
	if !n.empty.Load() {
		return nil
	}
	if len(n.config.Initial) == 0 {
		return errors.New("the data directory is empty and no initial members are given")
	}
	if begun := n.forming.known(); begun != nil {
		return n.bootstrap(begun)
	}
	lowest := n.initialIDs()[0]
	for reported := ""; ; {
		all, admitted, err := n.survey(ctx)
		switch {
		case errors.Is(err, ErrWiped) || ctx.Err() != nil:
			return err
		case admitted:
			return nil
		case err == nil && n.config.ID == lowest:
			return n.bootstrap(all)
		case err == nil:
			err = fmt.Errorf("waiting for %s to form the cluster", lowest)
		}
		if err.Error() != reported {
			reported = err.Error()
			n.logger.Info("not part of a cluster yet", "reason", err)
			n.readiness.fail(err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(askAgain):
		}
	}
}

// survey asks all other initial members who they are. It returns all incarnations, and no error only if every member
// answered and has an empty directory.
func (n *Node) survey(ctx context.Context) (incarnations map[string]string, admitted bool, err error) {
	type answer struct {
		id  identity
		err error
	}
	answers := make(map[string]chan answer)
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	for _, id := range n.initialIDs() {
		if id == n.config.ID {
			continue
		}
		answered := make(chan answer, 1)
		answers[id] = answered
		go func() {
			theirs, err := n.links.identity(ctx, id)
			answered <- answer{theirs, err}
		}()
	}
	incarnations = map[string]string{n.config.ID: n.config.Incarnation}
	for id, answered := range answers {
		a := <-answered
		switch {
		case errors.Is(a.err, ErrWiped):
			return nil, false, a.err
		case a.err != nil:
			err = fmt.Errorf("waiting for %s: %w", id, a.err)
		case a.id.Known == n.config.Incarnation:
			admitted = true
		case a.id.Known != "":
			return nil, false, fmt.Errorf("%s says: %w", id, ErrWiped)
		case !a.id.Empty:
			err = fmt.Errorf("%s belongs to a cluster already and does not know this node yet", id)
		default:
			incarnations[id] = a.id.Incarnation
		}
	}
	return incarnations, admitted, err
}

// unformed reports whether this node crashed on its way to form a cluster: nothing has ever been in its log. A term may be
// stored, which is how bootstrap begins and means nothing without members.
func (n *Node) unformed() (bool, error) {
	if n.forming.known() == nil {
		return false, nil
	}
	last, err := n.stores.log.LastIndex()
	if err != nil || last > 0 {
		return false, err
	}
	snapshots, err := n.stores.snapshots.List()
	return len(snapshots) == 0, err
}

// bootstrap makes this node the first of a new cluster of all initial members.
func (n *Node) bootstrap(incarnations map[string]string) error {
	if err := n.stores.stable.Set([]byte(keyForming), encodeJSON(incarnations)); err != nil {
		return err
	}
	var members raft.Configuration
	for _, id := range n.initialIDs() {
		members.Servers = append(members.Servers, raft.Server{ID: raft.ServerID(id), Address: raft.ServerAddress(id)})
	}
	// What raft.BootstrapCluster does, but that it does not finish what it began before a crash.
	term, err := n.stores.stable.GetUint64([]byte(keyCurrentTerm))
	if err == nil && term == 0 || notFound(err) {
		err = n.stores.stable.SetUint64([]byte(keyCurrentTerm), 1)
	}
	if err != nil {
		return fmt.Errorf("bootstrap: %w", err)
	}
	first := raft.Log{Index: 1, Term: 1, Type: raft.LogConfiguration, Data: raft.EncodeConfiguration(members)}
	if err := n.stores.log.StoreLog(&first); err != nil {
		return fmt.Errorf("bootstrap: %w", err)
	}
	n.forming.mu.Lock()
	n.forming.incarnations = incarnations
	n.forming.mu.Unlock()
	n.logger.Info("formed a new cluster", "members", n.initialIDs())
	return nil
}

// form records the members' incarnations as this leader's first command. Only the member that bootstrapped knows them;
// another one that was elected before they were recorded asks it.
func (n *Node) form(ctx context.Context) error {
	incarnations := n.forming.known()
	if incarnations == nil {
		theirs, err := n.links.identity(ctx, n.initialIDs()[0])
		if err != nil {
			return err
		}
		if incarnations = theirs.Forming; incarnations == nil {
			return errors.New("the cluster's members were never recorded, and no member knows them")
		}
	}
	_, err := n.committer.own(ctx, fsm.Command{Op: fsm.OpForm, Incarnations: incarnations})
	return err
}

// initialIDs returns the initial members in order.
func (n *Node) initialIDs() []string {
	ids := make([]string, 0, len(n.config.Initial))
	for id := range n.config.Initial {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}
