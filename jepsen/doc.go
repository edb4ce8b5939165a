// Package jepsen is the chaos harness: it runs a real cluster, has clients work on it, does it harm, and judges what they
// saw. It speaks HTTP only and has a model of its own, so that it shares no mistake with what it tests.
//
// Its rooms: history is what a run leaves behind, workload what clients do, testbed where the nodes run, nemesis the harm
// done to them, check the judgement, report the pictures, sim the same in simulated time. This package runs them.
package jepsen
