package testbed

import (
	"fmt"
	"net"
	"os"
	"syscall"
)

// port is a port of 127.0.0.1 that is kept for somebody who will listen on it, also between two times of listening:
// nobody else is given it meanwhile, and who connects is refused as by a machine on which nothing runs.
type port struct {
	number int
	holder int // descriptor of a socket that is bound and never listens
}

// reservePort keeps the port of that number, or any free one if it is 0.
func reservePort(number int) (*port, error) {
	fail := func(call string, err error) (*port, error) {
		return nil, fmt.Errorf("keep port %d of 127.0.0.1: %w", number, os.NewSyscallError(call, err))
	}
	syscall.ForkLock.RLock() // so that no child inherits it
	holder, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(holder)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return fail("socket", err)
	}
	// Both who keeps a port and who listens on it must allow this, as net.Listen does.
	if err := syscall.SetsockoptInt(holder, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		syscall.Close(holder)
		return fail("setsockopt", err)
	}
	if err := syscall.Bind(holder, &syscall.SockaddrInet4{Port: number, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		syscall.Close(holder)
		return fail("bind", err)
	}
	bound, err := syscall.Getsockname(holder)
	if err != nil {
		syscall.Close(holder)
		return fail("getsockname", err)
	}
	return &port{number: bound.(*syscall.SockaddrInet4).Port, holder: holder}, nil
}

func (p *port) address() string { return fmt.Sprintf("127.0.0.1:%d", p.number) }

func (p *port) listen() (net.Listener, error) { return net.Listen("tcp4", p.address()) }

func (p *port) release() { syscall.Close(p.holder) }
