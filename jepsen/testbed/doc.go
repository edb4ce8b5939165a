// Package testbed is the place where a cluster under test runs: real processes of a given binary, the network between
// them and their disks, with every handle that a nemesis needs. It guarantees that nothing outlives it, however it ends:
// no process, mount, device or namespace. It never touches anything but loopback and what it has made itself.
//
// It knows nothing of workloads and judges nothing. What a node prints and what it keeps lie below Dir/nodes/ID.
package testbed
