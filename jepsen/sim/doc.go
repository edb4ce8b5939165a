// Package sim is the harness in simulated time: nodes of the product, all of them in this process, with their clients and
// faults, in a bubble of testing/synctest where nothing takes time but waiting. A simulated hour takes about six seconds of one core.
//
// From the client's request to the event of a watch all code is the product's: httpapi's handler, cluster's node with Raft
// and its transport, fsm. What is simulated is what lies below: the network, as streams of bytes with delays and cuts;
// disks, as stores that keep what they were told; processes, as nodes that vanish in the midst of what they do. What the
// simulator cannot show is what depends on those: files, sockets, TLS, and clocks that go wrong on one node alone.
//
// A seed decides upon the faults and the work. It does not decide in which order goroutines run, so that a second run of a
// seed is like the first and not the same: what must be kept of a failure is its history.
//
// Simulated time is cut into bubbles, each with a cluster, a history and a judgement of its own, so that memory stays
// bounded and a failure is small. Run owns every goroutine that it starts and returns when all have ended.
package sim
