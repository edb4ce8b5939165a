package main

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/cluster"
)

// fixedStatus is a node that is always the same.
type fixedStatus cluster.Status

func (s fixedStatus) Summary() cluster.Status { return cluster.Status(s) }

func TestMetricsTellTheNodesStatus(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	require.NoError(t, registry.Register(nodeMetrics{fixedStatus{
		Role: "leader", Leader: "node-1", Term: 7, Revision: 1234, AppliedIndex: 99, LastContact: 1500 * time.Millisecond,
	}}))
	families, err := registry.Gather()
	require.NoError(t, err)
	values := map[string]float64{}
	for _, family := range families {
		values[family.GetName()] = family.GetMetric()[0].GetGauge().GetValue()
	}
	for name, want := range map[string]float64{
		"leasehold_is_leader": 1, "leasehold_has_leader": 1, "leasehold_ready": 0, "leasehold_raft_term": 7,
		"leasehold_revision": 1234, "leasehold_raft_applied_index": 99, "leasehold_raft_last_contact_seconds": 1.5,
	} {
		assert.Equal(t, want, values[name], name)
	}
}
