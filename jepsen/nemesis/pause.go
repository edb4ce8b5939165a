package nemesis

func pauseKinds() []Kind {
	pause := func(aim func(*attack) error, felt func(*attack) string) act {
		return act{aim: aim, strike: func(a *attack) error { return a.ward.pause(a.Name, a.nodes) }, felt: felt}
	}
	return []Kind{
		{Name: "pause-one", Family: Pausing, Does: "One node is stopped where it stands with SIGSTOP, and goes on later without knowing.",
			Proof: "it does not answer", act: pause(aimAtOne, silent)},
		{Name: "pause-leader", Family: Pausing, Does: "The node that leads is stopped where it stands, and wakes up when another may lead.",
			Proof: "another comes to lead", Nodes: 3, Shortest: shortestElection, act: pause(aimAtLeader, newLeaderOrSilent)},
		{Name: "pause-majority", Family: Pausing, Does: "One node more than the cluster can do without is stopped where it stands.",
			Proof: "they do not answer", Nodes: 3, Longest: longestOutage, Stops: true, act: pause(aimAtMajority, silent)},
		{Name: "pause-all", Family: Pausing, Does: "All nodes are stopped where they stand, and go on together.",
			Proof: "they do not answer", Longest: longestOutage, Stops: true, act: pause(aimAtAll, silent)},
	}
}

// newLeaderOrSilent is newLeader, or, where no other could come to lead because of what else was going on, silent.
func newLeaderOrSilent(a *attack) string {
	if effect := newLeader(a); effect != "" {
		return effect
	}
	return silent(a)
}
