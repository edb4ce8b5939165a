package main

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
)

// devLayout is where everything of a development cluster lies: its ports, all on 127.0.0.1, and its files.
type devLayout struct {
	Dir      string
	BasePort int
	Nodes    int
}

// The balancer's and the peers' ports are this far above the base port, the nodes' own right on it.
const (
	balancerOffset = 50
	peerOffset     = 100
)

// Validate refuses what would make two listeners share a port.
func (l devLayout) Validate() error {
	if l.Nodes < 1 || l.Nodes > balancerOffset {
		return fmt.Errorf("--nodes: %d is not between 1 and %d", l.Nodes, balancerOffset)
	}
	if last := l.BasePort + peerOffset + l.Nodes - 1; l.BasePort < 1 || last > 65535 {
		return fmt.Errorf("--base-port: ports %d to %d do not exist", l.BasePort, last)
	}
	if l.Dir == "" {
		return errors.New("--dir: is required")
	}
	return nil
}

// id names node k, counted from 1. It is also the node's directory and its kubeconfig context.
func (l devLayout) id(k int) string { return "node-" + strconv.Itoa(k) }

func (l devLayout) api(k int) string  { return loopback(l.BasePort + k - 1) }
func (l devLayout) peer(k int) string { return loopback(l.BasePort + peerOffset + k - 1) }
func (l devLayout) balancer() string  { return loopback(l.BasePort + balancerOffset) }

// path returns a file's place in the cluster's directory.
func (l devLayout) path(parts ...string) string {
	return filepath.Join(append([]string{l.Dir}, parts...)...)
}

// checkPorts tells which ports are taken, before anything is started.
func (l devLayout) checkPorts() error {
	var taken []error
	try := func(address, purpose string) {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			taken = append(taken, fmt.Errorf("%s, for %s, cannot be used: %w", address, purpose, err))
			return
		}
		listener.Close()
	}
	for k := 1; k <= l.Nodes; k++ {
		try(l.api(k), l.id(k))
		try(l.peer(k), "the peers of "+l.id(k))
	}
	try(l.balancer(), "the balancer")
	if len(taken) > 0 {
		return fmt.Errorf("choose another --base-port: %w", errors.Join(taken...))
	}
	return nil
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
