package cluster_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/cluster"
	"github.com/leasehold/leasehold/cluster/clustertest"
	"github.com/leasehold/leasehold/fsm"
)

// patient is a context for what must succeed in the end.
func patient(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), clustertest.Patience)
	t.Cleanup(cancel)
	return ctx
}

func key(name string) fsm.Key { return fsm.Key{Resource: "leases", Namespace: "test", Name: name} }

func create(name, value string) fsm.Command {
	return fsm.Command{Op: fsm.OpCreate, Key: key(name), UID: "uid of " + name, Object: []byte(value)}
}

// stored returns what a node has under a name, "" for nothing.
func stored(node *cluster.Node, name string) string {
	object := node.State().Get(key(name))
	if object == nil {
		return ""
	}
	return string(object.Data)
}

func TestAnyNodeTakesProposalsAndReadsThem(t *testing.T) {
	c := clustertest.New(t, 3, clustertest.Options{})
	ctx := patient(t)
	for i, node := range c.Nodes() {
		name := fmt.Sprintf("from-%d", i+1)
		result, err := node.Propose(ctx, create(name, "value"))
		require.NoError(t, err)
		require.Equal(t, fsm.Accepted, result.Outcome)
		require.Equal(t, uint64(fsm.FirstRevision+1+i), result.Revision)
		require.Equal(t, "value", stored(node, name), "the proposing node's own state has the result")

		for _, other := range c.Nodes() {
			require.NoError(t, other.Barrier(ctx))
			require.Equal(t, "value", stored(other, name), "a barrier on any node sees it")
		}
		result, err = node.Propose(ctx, create(name, "other"))
		require.NoError(t, err)
		require.Equal(t, fsm.Exists, result.Outcome)
	}
	c.WaitReady()
}

func TestRestartKeepsData(t *testing.T) {
	c := clustertest.New(t, 3, clustertest.Options{})
	ctx := patient(t)
	_, err := c.Node(2).Propose(ctx, create("kept", "value"))
	require.NoError(t, err)
	for i := range 3 {
		c.Stop(i + 1)
	}
	for i := range 3 {
		c.Start(i + 1)
	}
	for _, node := range c.Nodes() {
		require.NoError(t, node.Barrier(ctx))
		require.Equal(t, "value", stored(node, "kept"))
	}
}

func TestOneNodeIsACluster(t *testing.T) {
	c := clustertest.New(t, 1, clustertest.Options{Memory: true})
	ctx := patient(t)
	_, err := c.Node(1).Propose(ctx, create("alone", "value"))
	require.NoError(t, err)
	require.NoError(t, c.Node(1).Barrier(ctx))
	c.WaitReady()
}
