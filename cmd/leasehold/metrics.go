package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/leasehold/leasehold/cluster"
)

// nodeMetrics tells on /metrics what a node's Summary tells, read at each scrape.
type nodeMetrics struct {
	node interface{ Summary() cluster.Status }
}

// nodeGauge is one number of a Status.
type nodeGauge struct {
	name, help string
	value      func(*cluster.Status) float64
}

func nodeGauges() []nodeGauge {
	truth := func(is bool) float64 {
		if is {
			return 1
		}
		return 0
	}
	return []nodeGauge{
		{"leasehold_ready", "Whether a read barrier succeeded lately.", func(s *cluster.Status) float64 { return truth(s.Ready) }},
		{"leasehold_has_leader", "Whether this node knows a leader.", func(s *cluster.Status) float64 { return truth(s.Leader != "") }},
		{"leasehold_is_leader", "Whether this node leads.", func(s *cluster.Status) float64 { return truth(s.Role == "leader") }},
		{"leasehold_revision", "Revision of the last change applied here.", func(s *cluster.Status) float64 { return float64(s.Revision) }},
		{"leasehold_objects", "Objects stored.", func(s *cluster.Status) float64 { return float64(s.Objects) }},
		{"leasehold_raft_term", "Raft's current term.", func(s *cluster.Status) float64 { return float64(s.Term) }},
		{"leasehold_raft_commit_index", "Last log index known to be committed.", func(s *cluster.Status) float64 { return float64(s.CommitIndex) }},
		{"leasehold_raft_applied_index", "Last log index applied.", func(s *cluster.Status) float64 { return float64(s.AppliedIndex) }},
		{"leasehold_raft_first_index", "First log index stored: a member that lacks an earlier one needs a snapshot.", func(s *cluster.Status) float64 { return float64(s.FirstIndex) }},
		{"leasehold_raft_last_index", "Last log index stored.", func(s *cluster.Status) float64 { return float64(s.LastIndex) }},
		{"leasehold_raft_snapshot_index", "Last log index in a snapshot.", func(s *cluster.Status) float64 { return float64(s.SnapshotIndex) }},
		{"leasehold_raft_last_contact_seconds", "Time since the leader was heard of; 0 on the leader.", func(s *cluster.Status) float64 { return s.LastContact.Seconds() }},
	}
}

func (g nodeGauge) desc() *prometheus.Desc { return prometheus.NewDesc(g.name, g.help, nil, nil) }

// Describe implements prometheus.Collector.
func (m nodeMetrics) Describe(descs chan<- *prometheus.Desc) {
	for _, gauge := range nodeGauges() {
		descs <- gauge.desc()
	}
}

// Collect implements prometheus.Collector.
func (m nodeMetrics) Collect(metrics chan<- prometheus.Metric) {
	status := m.node.Summary()
	for _, gauge := range nodeGauges() {
		metrics <- prometheus.MustNewConstMetric(gauge.desc(), prometheus.GaugeValue, gauge.value(&status))
	}
}
