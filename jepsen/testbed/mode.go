package testbed

import "fmt"

// Mode is the kind of place that nodes run in.
type Mode string

const (
	// Auto is the strongest of the others that this machine and this user allow.
	Auto Mode = "auto"
	// Root gives each node a network namespace and a small filesystem of its own. Packets can be lost and power too.
	Root Mode = "root"
	// UserNS is the same network in a user namespace, for which no root is needed. Disks are plain directories.
	UserNS Mode = "userns"
	// Proxy runs all nodes on 127.0.0.1, and has what they and clients say to each other pass through the harness.
	Proxy Mode = "proxy"
)

// ParseMode reads a mode's name.
func ParseMode(name string) (Mode, error) {
	switch mode := Mode(name); mode {
	case Auto, Root, UserNS, Proxy:
		return mode, nil
	}
	return "", fmt.Errorf("%q is no mode: choose auto, root, userns or proxy", name)
}
