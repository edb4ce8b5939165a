package nemesis

import (
	"fmt"
	"time"
)

func memberKinds() []Kind {
	return []Kind{
		{Name: "transfer", Family: Members, Does: "The leader is asked to hand over, again and again.",
			Proof: "another comes to lead", Nodes: 3, Needs: []Capability{CanTransfer},
			act: act{aim: aimAtLeader, strike: handOver, last: handOverOften, felt: newLeader}},
		{Name: "membership", Family: Members, Does: "A node is taken out of the cluster, and another is taken in.",
			Proof: "the nodes tell of another membership", Nodes: 3, Needs: []Capability{CanChangeMembers},
			act: act{aim: aimAtFollower, felt: func(*attack) string { return "" }, strike: func(*attack) error {
				return fmt.Errorf("there are no commands for it yet: %w", ErrUnsupported)
			}}},
	}
}

// handOver asks the leader to hand over to any other.
func handOver(a *attack) error { return a.ward.target.Transfer(a.ctx, "") }

// handOverOften asks again every second or two. That nobody leads just then is no error.
func handOverOften(a *attack) error {
	asked, refused := 1, 0
	for a.sleep(time.Duration(within(a.random, time.Second, 2*time.Second))) {
		asked++
		if err := handOver(a); err != nil && a.ctx.Err() == nil {
			refused++
		}
	}
	a.note("asked", "%d times, %d without success", asked, refused)
	return nil
}
