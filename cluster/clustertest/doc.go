// Package clustertest runs clusters of real nodes in one process: Raft, calls between nodes and stores are those of
// the product, the network is one that a test can cut, and nodes can crash and come back with their data.
package clustertest
