package testbed

import (
	"fmt"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// raise gives a network interface of this thread's namespace an address in a network of 24 bits, and the size of its
// largest packet, and switches it on. A nil address leaves both as they are.
func raise(name string, address *netip.Addr, mtu uint32) error {
	fail := func(what string, err error) error { return fmt.Errorf("%s of interface %s: %w", what, name, err) }
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fail("socket", err)
	}
	defer unix.Close(socket)
	request, err := unix.NewIfreq(name)
	if err != nil {
		return fail("name", err)
	}
	if address != nil {
		bytes := address.As4()
		if err := request.SetInet4Addr(bytes[:]); err != nil {
			return fail("address", err)
		}
		if err := unix.IoctlIfreq(socket, unix.SIOCSIFADDR, request); err != nil {
			return fail("address", err)
		}
		if err := request.SetInet4Addr([]byte{255, 255, 255, 0}); err != nil {
			return fail("network mask", err)
		}
		if err := unix.IoctlIfreq(socket, unix.SIOCSIFNETMASK, request); err != nil {
			return fail("network mask", err)
		}
		request.SetUint32(mtu)
		if err := unix.IoctlIfreq(socket, unix.SIOCSIFMTU, request); err != nil {
			return fail("packet size", err)
		}
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, request); err != nil {
		return fail("state", err)
	}
	return nil
}

// openTunnel makes an interface in this thread's namespace whose packets are read from and written to a file.
func openTunnel(name string, address netip.Addr, mtu uint32) (*os.File, error) {
	descriptor, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("open /dev/net/tun: %w", err)
	}
	request, err := unix.NewIfreq(name)
	if err == nil {
		request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(descriptor, unix.TUNSETIFF, request)
	}
	if err == nil {
		err = raise(name, &address, mtu)
	}
	if err != nil {
		unix.Close(descriptor)
		return nil, fmt.Errorf("make interface %s: %w", name, err)
	}
	return os.NewFile(uintptr(descriptor), "/dev/net/tun"), nil
}
