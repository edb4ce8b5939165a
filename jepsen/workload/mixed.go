package workload

// mixed is all workloads, each a little, in about the proportions of a Kubernetes control plane: most of what is read is
// listed and then watched, most of what is written is written on condition of the version read before.
func mixed() []share {
	return []share{
		{"register", 30, register},
		{"list", 15, lists},
		{"watch", 25, watches},
		{"append", 10, appends},
		{"generate", 10, generate},
		{"heartbeat", 5, heartbeats},
		{"election", 5, election},
	}
}
