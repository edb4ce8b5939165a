//go:build !linux

package testbed

import (
	"errors"
	"syscall"

	"github.com/leasehold/leasehold/jepsen/nemesis"
)

// Elsewhere than on Linux there is mode Proxy alone, and what the harness leaves when it is killed is not cleared away.

func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func awaitStopped(*process) error { return nil }
func stateOf(int) byte            { return 0 }

func probe(Mode) error             { return errors.New("only Linux has the namespaces for it") }
func runInside(Mode, string) error { return nemesis.ErrUnsupported }
func settle(Mode) error            { return nemesis.ErrUnsupported }
func rehearseDisk(string) error    { return nemesis.ErrUnsupported }

func newWires([]string) (network, error)      { return nil, nemesis.ErrUnsupported }
func newImages([]*node, int64) (disks, error) { return nil, nemesis.ErrUnsupported }
