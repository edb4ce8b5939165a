package cluster

import (
	"context"
	"time"

	"github.com/leasehold/leasehold/fsm"
)

// compactEvery is how often the leader looks whether history is due to be forgotten.
const compactEvery = 5 * time.Second

// sample remembers how far the history had come at some time.
type sample struct {
	at       time.Time
	revision uint64
}

// compact forgets history by age until ctx ends. Every node keeps samples, so that a new leader can go on at once; only
// the leader proposes, so that all replicas forget alike. The bound on the bytes is kept by the machine; each new leader
// tells it once.
func (n *Node) compact(ctx context.Context) {
	ticker := time.NewTicker(compactEvery)
	defer ticker.Stop()
	var samples []sample
	var limited *term // the term in which this leader told the limit in bytes
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			revision := n.State().Revision()
			samples = append(samples, sample{now, revision})
			var aged uint64
			for len(samples) > 0 && now.Sub(samples[0].at) > n.config.HistoryAge {
				aged = samples[0].revision
				samples = samples[1:]
			}
			term := n.term.Load()
			if term == nil || aged <= n.History().Oldest() && term == limited {
				continue
			}
			command := fsm.Command{Op: fsm.OpCompact, Revision: aged, HistoryBytes: uint64(n.config.HistoryBytes)}
			if _, err := n.committer.own(term.ctx, command); err != nil {
				n.logger.Warn("history was not compacted", "revision", aged, "error", err)
				continue
			}
			limited = term
		}
	}
}
