package nemesis

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

func partitionKinds() []Kind {
	coin := func(r *rand.Rand, c *Choice) { c.Leader = r.IntN(2) == 0 }
	sides := func(r *rand.Rand, c *Choice) { c.Leader, c.Inward = r.IntN(2) == 0, r.IntN(2) == 0 }
	return []Kind{
		{Name: "partition-leader", Family: Partitioning, Does: "The node that leads is cut off from the other nodes; clients still reach all.",
			Proof: "another comes to lead", Nodes: 3, Shortest: shortestElection,
			act: act{aim: aimAtLeader, strike: cutOff, felt: newLeader}},
		{Name: "partition-one", Family: Partitioning, Does: "One node is cut off from the other nodes; clients still reach all.",
			Proof: "it is not ready, stands still, or another comes to lead", Nodes: 3, act: act{aim: aimAtOne, strike: cutOff, felt: disturbance}},
		{Name: "partition-halves", Family: Partitioning, Does: "The nodes are cut into a minority and a majority that do not hear each other.",
			Proof: "the minority is not ready, stands still, or another comes to lead", Nodes: 3,
			act: act{aim: aimAtMinority, strike: cutOff, felt: disturbance}},
		{Name: "partition-ring", Family: Partitioning, Does: "Each node hears two neighbours only, so that every majority is another one.",
			Proof: "a node is not ready or knows of no leader, or another comes to lead", Nodes: 5, act: act{aim: aimAtAll, strike: ring, felt: disturbance}},
		{Name: "partition-one-way", Family: Partitioning, Does: "One node no longer hears the others, or is no longer heard by them, but not both.",
			Proof: "it is not ready, stands still, or another comes to lead", Nodes: 3, Needs: []Capability{CanLoseTrafficOneWay}, draw: sides,
			act: act{aim: aimAtOne, strike: oneWay, felt: disturbance}},
		{Name: "partition-flapping", Family: Partitioning, Does: "One node is cut off and connected again, many times, at odd moments.",
			Proof: "it is not ready, or another comes to lead", Nodes: 3, draw: coin,
			act: act{aim: aimAtOne, strike: cutOff, last: flap, felt: disturbance}},
		{Name: "partition-client", Family: Partitioning, Does: "Clients no longer reach one node, which goes on among the others.",
			Proof: "it does not answer, or calls have no answer", draw: coin,
			act: act{aim: aimAtOne, strike: cutFromClients, felt: firstOf(silent, lostCalls)}},
		{Name: "swizzle", Family: Partitioning, Does: "The links between nodes are cut one after the other, and mended in another order.",
			Proof: "a node is not ready or knows of no leader, or another comes to lead", Nodes: 3,
			act: act{aim: aimAtAll, strike: func(*attack) error { return nil }, last: swizzle, felt: disturbance}},
	}
}

func cutOff(a *attack) error {
	return a.cut(between(a.nodes, a.others(a.nodes...), Condition{Drop: true}))
}

// ring leaves each node the one before and the one after it in the order.
func ring(a *attack) error {
	cut := make(map[link]Condition)
	n := len(a.nodes)
	for i, from := range a.nodes {
		for j, to := range a.nodes {
			if apart := (j - i + n) % n; apart > 1 && apart < n-1 {
				cut[link{from, to}] = Condition{Drop: true}
			}
		}
	}
	a.note("ring", "%s", strings.Join(a.nodes, ", "))
	return a.cut(cut)
}

func oneWay(a *attack) error {
	cut := make(map[link]Condition)
	node := a.nodes[0]
	for _, other := range a.others(node) {
		if a.Inward {
			cut[link{other, node}] = Condition{Drop: true}
		} else {
			cut[link{node, other}] = Condition{Drop: true}
		}
	}
	direction := "it is not heard"
	if a.Inward {
		direction = "it does not hear"
	}
	a.note("direction", "%s", direction)
	return a.cut(cut)
}

func cutFromClients(a *attack) error {
	return a.cut(between(a.nodes, []string{Client}, Condition{Drop: true}))
}

// flap connects and cuts off in turns that last from a tenth of a second to one and a half.
func flap(a *attack) error {
	turn := func() time.Duration {
		return time.Duration(within(a.random, 100*time.Millisecond, 1500*time.Millisecond))
	}
	times := 1
	for a.sleep(turn()) {
		if err := a.cut(nil); err != nil {
			return err
		}
		if !a.sleep(turn() / 2) {
			break
		}
		if err := cutOff(a); err != nil {
			return err
		}
		times++
	}
	a.note("times", "%d", times)
	return nil
}

// swizzle takes two fifths of its time to cut all links between nodes, and as long to mend them.
func swizzle(a *attack) error {
	var pairs []link
	for i, x := range a.nodes {
		for _, y := range a.nodes[i+1:] {
			pairs = append(pairs, link{x, y})
		}
	}
	pause := 2 * time.Duration(a.For) / 5 / time.Duration(len(pairs))
	cut := make(map[link]Condition)
	turn := func(c Condition) error {
		order := slices.Clone(pairs)
		a.random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, p := range order {
			cut[p], cut[link{p.to, p.from}] = c, c
			if err := a.cut(cut); err != nil {
				return err
			}
			if !a.sleep(pause) {
				return errOver
			}
		}
		return nil
	}
	err := turn(Condition{Drop: true})
	if err == nil {
		a.sleep(time.Duration(a.For) / 5)
		err = turn(Condition{})
	}
	if errors.Is(err, errOver) {
		return nil
	}
	a.wait()
	return err
}

// errOver says that the time of a fault is over.
var errOver = errors.New("its time is over")
