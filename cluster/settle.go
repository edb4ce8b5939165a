package cluster

import "context"

// settlement is an answered flight that waits for this node's machine to have come as far as the answer.
type settlement struct {
	proposals []*proposal
	revision  uint64
}

// release wakes the callers of answered proposals. Each is released once.
func release(proposals []*proposal) {
	for _, p := range proposals {
		if !p.abandoned {
			close(p.done)
		}
	}
}

// runSettle releases answered proposals once the machine of this node has come as far as their answer, until ctx ends.
func (r *proposer) runSettle(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.settling:
		}
		r.mu.Lock()
		settle := r.settle
		r.settle = nil
		r.mu.Unlock()
		for i, s := range settle {
			err := r.node.machine.WaitRevision(ctx, s.revision)
			r.mu.Lock()
			if err != nil {
				r.settle = append(settle[i:], r.settle...)
				r.mu.Unlock()
				return
			}
			release(s.proposals)
			r.unsettled -= len(s.proposals)
			r.mu.Unlock()
		}
	}
}
