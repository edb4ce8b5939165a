package nemesis

import (
	"fmt"
	"strings"
	"time"
)

// A majority that is down stops all work, so it does not stay so for long; and whoever strikes a leader stays to see the next.
const (
	longestOutage    = 4 * time.Second
	shortestElection = 3500 * time.Millisecond
)

func killKinds() []Kind {
	kill := func(aim func(*attack) error, felt func(*attack) string) act {
		return act{aim: aim, strike: func(a *attack) error { return a.ward.down(a.ctx, a.Name, a.ward.kill, a.nodes) }, felt: felt}
	}
	return []Kind{
		{Name: "kill-one", Family: Killing, Does: "One node is killed with SIGKILL, and started again later.",
			Proof: "it does not answer", act: kill(aimAtOne, silent)},
		{Name: "kill-leader", Family: Killing, Does: "The node that leads is killed with SIGKILL, and started again later.",
			Proof: "another comes to lead", Nodes: 3, Shortest: shortestElection, act: kill(aimAtLeader, newLeader)},
		{Name: "kill-minority", Family: Killing, Does: "As many nodes as the cluster can do without are killed in the same instant.",
			Proof: "they do not answer", Nodes: 3, act: kill(aimAtMinority, silent)},
		{Name: "kill-majority", Family: Killing, Does: "One node more than the cluster can do without is killed, all in the same instant.",
			Proof: "they do not answer", Nodes: 3, Longest: longestOutage, Stops: true, act: kill(aimAtMajority, silent)},
		{Name: "kill-all", Family: Killing, Does: "All nodes are killed with SIGKILL in the same instant.",
			Proof: "they do not answer", Longest: longestOutage, Stops: true, act: kill(aimAtAll, silent)},
		{Name: "restart-one", Family: Killing, Does: "One node is stopped in good order and started again.",
			Proof: "it ends, and is ready again", Shortest: 3 * time.Second,
			act: act{aim: aimAtOne, strike: func(*attack) error { return nil }, last: rollingRestart, felt: restarted}},
		{Name: "rolling-restart", Family: Killing, Does: "The nodes are stopped in good order and started again, one after the other, as for an upgrade.",
			Proof: "each ends, and is ready again", Shortest: 10 * time.Second,
			act: act{aim: aimAtAll, strike: func(*attack) error { return nil }, last: rollingRestart, felt: restarted}},
	}
}

// readyTime is how long a node that was started is waited for before the next is stopped.
const readyTime = 6 * time.Second

func rollingRestart(a *attack) error {
	var turned []string
	for _, node := range a.nodes {
		if a.ctx.Err() != nil {
			break
		}
		// What was begun with a node is brought to its end, also if the fault should end.
		done, err := a.ward.restart(a.lasting, node)
		if err != nil {
			return err
		}
		if !done {
			continue // it is down or paused already
		}
		if a.observer.awaitReady(a.lasting, node, readyTime) {
			turned = append(turned, node)
		}
	}
	a.note("restarted", "%s", strings.Join(turned, ", "))
	a.wait()
	return nil
}

func restarted(a *attack) string {
	if a.detail["restarted"] == "" {
		return ""
	}
	return fmt.Sprintf("%s ended and became ready again", a.detail["restarted"])
}
