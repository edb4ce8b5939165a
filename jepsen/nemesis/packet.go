package nemesis

import (
	"math/rand/v2"
	"time"
)

func packetKinds() []Kind {
	strike := func(condition func(a *attack) Condition) act {
		return act{aim: aimWide, felt: packetsFelt, strike: func(a *attack) error {
			return a.cut(between(a.nodes, append(a.inOrder(), Client), condition(a)))
		}}
	}
	where := func(r *rand.Rand, c *Choice) { c.Wide, c.Leader = r.IntN(3) == 0, r.IntN(2) == 0 }
	return []Kind{
		{Name: "reset", Family: Packets, Does: "Connections from and to one node, or all, are answered with a reset.",
			Proof: "it does not answer, or calls have no answer, or another comes to lead", Needs: []Capability{CanReset}, Longest: longestOutage, draw: where,
			act: strike(func(*attack) Condition { return Condition{Reset: true} })},
		{Name: "delay", Family: Packets, Does: "Packets from and to one node, or all, come late, some later than others.",
			Proof: "answers take longer, or another comes to lead", Needs: []Capability{CanDelay},
			draw: func(r *rand.Rand, c *Choice) {
				where(r, c)
				c.Delay = within(r, 20*time.Millisecond, 300*time.Millisecond)
				c.Jitter = within(r, 0, time.Duration(c.Delay)/2)
			},
			act: strike(func(a *attack) Condition {
				return Condition{Delay: time.Duration(a.Delay), Jitter: time.Duration(a.Jitter)}
			})},
		{Name: "loss", Family: Packets, Does: "A share of the packets from and to one node, or all, vanishes.",
			Proof: "answers take longer or do not come, or another comes to lead", Needs: []Capability{CanLosePackets},
			draw: func(r *rand.Rand, c *Choice) {
				where(r, c)
				c.Loss = float64(5+r.IntN(26)) / 100
				c.Delay = Span(lossWait)
			},
			act: strike(func(a *attack) Condition { return Condition{Loss: a.Loss} })},
	}
}

// lossWait is what a lost packet costs at least: the time until it is sent again.
const lossWait = 40 * time.Millisecond

// packetsFelt finds what trouble with packets does, to the harness itself or to others.
func packetsFelt(a *attack) string {
	return firstOf(slowSamples, slowCalls, anySilent, newLeader, unready, noLeader, stoodStill, lostCalls)(a)
}

// slowSamples is anySlow for who delays or loses packets.
func slowSamples(a *attack) string {
	if a.Delay == 0 {
		return ""
	}
	return anySlow(a)
}
