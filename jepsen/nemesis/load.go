package nemesis

import (
	"fmt"
	"math/rand/v2"
	"time"
)

func loadKinds() []Kind {
	return []Kind{
		{Name: "snapshot-pressure", Family: Load, Does: "Nodes keep little log, and one follower is cut off until it has to be sent a snapshot.",
			Proof: "it falls behind", Nodes: 3, Shortest: 12 * time.Second,
			act: act{aim: aimAtAll, strike: keepLittleLog, felt: fellBehind, lift: usualLife}},
		{Name: "overload", Family: Load, Does: "Clients send many times as much as usual.",
			Proof: "more is called in a second", Bursts: true, draw: func(_ *rand.Rand, c *Choice) { c.Factor = 20 },
			act: act{aim: func(*attack) error { return nil }, strike: func(*attack) error { return nil }, last: overload, felt: loaded}},
	}
}

// keepLittleLog restarts all nodes with the least log that they take, and then cuts off a follower.
func keepLittleLog(a *attack) error {
	little := Life{Flags: []string{"--snapshot-bytes=1048576", "--trailing-bytes=65536"}}
	if err := a.live(func(int) Life { return little }); err != nil {
		return err
	}
	scene := a.observer.awaitLeader(a.ctx, leaderPatience)
	behind := a.firstOther(scene.leader)
	a.note("behind", "%s", behind)
	return a.cut(between([]string{behind}, a.others(behind), Condition{Drop: true}))
}

func (a *attack) firstOther(leader string) string { return a.others(leader)[0] }

// fellBehind says how far the node that was cut off is behind.
func fellBehind(a *attack) string {
	behind := a.detail["behind"]
	last, ok := a.observer.last(behind)
	if !ok || last.err != nil {
		return ""
	}
	ahead := sceneOf(a.observer.since(last.begun.Add(-time.Second))).applied
	if ahead <= last.sample.Applied || stoodStillAt(a, behind) == "" {
		return ""
	}
	return fmt.Sprintf("%s fell %d entries behind", behind, ahead-last.sample.Applied)
}

// stoodStillAt is stoodStill of one node.
func stoodStillAt(a *attack, node string) string {
	one := *a
	one.nodes = []string{node}
	return stoodStill(&one)
}

// overload has the workload send more until the fault should end.
func overload(a *attack) error {
	if a.hooks.Burst == nil {
		return fmt.Errorf("no workload takes bursts: %w", ErrUnsupported)
	}
	return a.hooks.Burst(a.ctx, a.Factor)
}

// loaded says how much more was called in a second than before.
func loaded(a *attack) string {
	now := a.hooks.Meter.Read()
	lasted, ran := time.Since(a.struck).Seconds(), a.struck.Sub(a.began).Seconds()
	if lasted <= 0 || ran <= 0 || a.read.Called == 0 {
		return ""
	}
	during, before := float64(now.Called-a.read.Called)/lasted, float64(a.read.Called)/ran
	if during < 2*before {
		return ""
	}
	return fmt.Sprintf("%.0f calls a second, %.0f before", during, before)
}
