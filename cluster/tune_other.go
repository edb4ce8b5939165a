//go:build !linux

package cluster

import "net"

// tune makes a dead idle link known by keepalive.
func tune(conn net.Conn) error {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return nil
	}
	return keepAlive(tcp)
}
