// Package cluster is one node among others. It gets a command into the replicated log exactly once, from any node and
// through any change of leader, and tells any node how far it must have come to answer a linearizable read.
//
// It never sees an HTTP verb or a Kubernetes rule. Open starts every goroutine of a node, Close waits for them all.
package cluster
