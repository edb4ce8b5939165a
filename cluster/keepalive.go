package cluster

import (
	"net"
	"time"
)

// unansweredLimit is how long sent data may go without the other kernel's acknowledgement. The kernel's own limit is
// many minutes.
const unansweredLimit = 5 * time.Second

func keepAlive(conn *net.TCPConn) error {
	return conn.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: 3 * time.Second, Interval: time.Second, Count: 3})
}
