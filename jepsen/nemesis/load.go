package nemesis

import (
	"fmt"
	"math/rand/v2"
	"time"
)

func loadKinds() []Kind {
	return []Kind{
		{Name: "snapshot-pressure", Family: Load, Does: "Nodes keep little log, and one follower is cut off until it has to be sent a snapshot.",
			Proof: "it lacks entries that no log holds any more", Nodes: 3, Shortest: 12 * time.Second,
			act: act{aim: aimAtAll, strike: keepLittleLog, last: fillLog, felt: needsSnapshot, lift: usualLife}},
		{Name: "overload", Family: Load, Does: "Clients send many times as much as usual.",
			Proof: "more is called in a second", Bursts: true, draw: func(_ *rand.Rand, c *Choice) { c.Factor = 20 },
			act: act{aim: func(*attack) error { return nil }, strike: func(*attack) error { return nil }, last: overload, felt: loaded}},
	}
}

// keepLittleLog restarts all nodes with the least log that they take, and then cuts off a follower.
func keepLittleLog(a *attack) error {
	little := Life{Flags: []string{"--snapshot-bytes=65536", "--trailing-bytes=65536"}}
	if err := a.live(func(int) Life { return little }); err != nil {
		return err
	}
	scene := a.observer.awaitLeader(a.ctx, leaderPatience)
	behind := a.firstOther(scene.leader)
	a.note("behind", "%s", behind)
	return a.cut(between([]string{behind}, a.others(behind), Condition{Drop: true}))
}

func (a *attack) firstOther(leader string) string { return a.others(leader)[0] }

// fillLog has the workload write more, if it can, so that the log that is kept is soon left behind.
func fillLog(a *attack) error {
	if a.hooks.Burst != nil {
		return a.hooks.Burst(a.ctx, pressure)
	}
	a.wait()
	return nil
}

// pressure is how many times as much is written while a follower should fall behind.
const pressure = 5

// needsSnapshot says that the node that was cut off lacks entries that the logs of the others no longer hold.
func needsSnapshot(a *attack) string {
	behind, ok := a.observer.last(a.detail["behind"])
	if !ok || behind.err != nil {
		return ""
	}
	var first uint64
	for _, o := range a.observer.since(a.struck) {
		if o.err == nil && o.node != behind.node {
			first = max(first, o.sample.First)
		}
	}
	if first <= behind.sample.Applied+1 {
		return ""
	}
	return fmt.Sprintf("%s was at %d when the logs of others began at %d, so it needed a snapshot", behind.node, behind.sample.Applied, first)
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
