package nemesis

import (
	"math/rand/v2"
	"time"
)

func diskKinds() []Kind {
	lose := func(aim func(*attack) error) act {
		return act{aim: aim, strike: func(a *attack) error { return a.ward.down(a.ctx, a.Name, a.ward.powerLoss, a.nodes) }, felt: silent}
	}
	leader := func(r *rand.Rand, c *Choice) { c.Leader = r.IntN(2) == 0 }
	return []Kind{
		{Name: "slow-disk", Family: Disks, Does: "Each sync of one node's disk takes a while longer.",
			Proof: "calls take longer, the node stands still or does not answer, or another comes to lead", Needs: []Capability{CanStallDisk},
			draw: func(r *rand.Rand, c *Choice) {
				leader(r, c)
				c.Delay = within(r, 50*time.Millisecond, 800*time.Millisecond)
			},
			act: act{aim: aimAtOne, felt: disturbance, strike: func(a *attack) error {
				return a.demand(func(d *demand) { d.disk.SyncDelay = time.Duration(a.Delay) })
			}}},
		{Name: "disk-error", Family: Disks, Does: "Each sync of one node's disk fails with an I/O error, or each write for want of space.",
			Proof: "the node ends, does not answer or is not ready, or another comes to lead", Needs: []Capability{CanStallDisk},
			draw: func(r *rand.Rand, c *Choice) { leader(r, c); c.Writing = r.IntN(2) == 0 },
			act: act{aim: aimAtOne, felt: diskFelt, strike: func(a *attack) error {
				return a.demand(func(d *demand) { d.disk.SyncError, d.disk.WriteError = !a.Writing, a.Writing })
			}}},
		{Name: "disk-full", Family: Disks, Does: "One node's disk is filled to the last byte, and gets its space back later.",
			Proof: "the node ends, does not answer or is not ready, or another comes to lead", Needs: []Capability{CanFillDisk}, draw: leader,
			act: act{aim: aimAtOne, felt: diskFelt, strike: func(a *attack) error {
				return a.demand(func(d *demand) { d.full = true })
			}}},
		{Name: "power-loss-one", Family: Disks, Does: "One node loses power: what its disk was not told to keep is gone.",
			Proof: "it does not answer", Needs: []Capability{CanLosePower}, draw: leader, act: lose(aimAtOne)},
		{Name: "power-loss-all", Family: Disks, Does: "All nodes lose power in the same instant: what their disks were not told to keep is gone.",
			Proof: "they do not answer", Needs: []Capability{CanLosePower}, Longest: longestOutage, Stops: true, act: lose(aimAtAll)},
	}
}

func diskFelt(a *attack) string {
	return firstOf(anySilent, unready, newLeader, stoodStill)(a)
}

// demand changes what the fault wants of its nodes.
func (a *attack) demand(change func(*demand)) error {
	return a.ward.set(a.ctx, a.Name, a.nodes, change)
}
