// Package bench measures a server of the coordination API from outside, by URL and token, and a bare HTTPS echo server
// beside it as the yardstick of what any server in Go must cost on the machine at hand.
//
// Latencies are counted from when an operation should have started, so a server that stalls cannot hide it by being
// asked less. Server CPU comes from process_cpu_seconds_total of every node, which is why the echo server is a process
// of its own. The client side is kept lean: what it burns is taken from the server's machine.
package bench
