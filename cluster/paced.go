package cluster

import (
	"net"
	"sync"
	"time"
)

const (
	// pacedChunk is how much is written under one deadline.
	pacedChunk = 256 << 10
	// pacedRate is how fast, in bytes a second, a peer at least takes in what was written, disk included.
	pacedRate = 4 << 20
)

// pacedConn is a connection of raft's network transport whose deadlines grow with the bytes. The transport gives each
// call the same time whatever its size (but for snapshots), and a call that is too large for it fails and is made again,
// for ever. Here each chunk that goes out pushes the write deadline, and what awaits an answer pushes the read deadline.
type pacedConn struct {
	net.Conn

	mu       sync.Mutex    // guards all below; never held across a read or write
	allowed  time.Duration // what the last write deadline allowed; 0 is no deadline
	deadline time.Time     // for reads, as asked for; zero is none
	pending  int           // bytes written since an answer began

	closed func() // called once by Close
	once   sync.Once
}

func (c *pacedConn) Close() error {
	c.once.Do(c.closed)
	return c.Conn.Close()
}

func (c *pacedConn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

func (c *pacedConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	return c.Conn.SetReadDeadline(c.readDeadline())
}

func (c *pacedConn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.allowed = 0
	if !t.IsZero() {
		c.allowed = time.Until(t)
	}
	return c.Conn.SetWriteDeadline(t)
}

// readDeadline is the deadline asked for and the time that the peer may need for what it got.
func (c *pacedConn) readDeadline() time.Time {
	if c.deadline.IsZero() {
		return c.deadline
	}
	return c.deadline.Add(time.Duration(c.pending) * (time.Second / pacedRate))
}

func (c *pacedConn) Write(p []byte) (int, error) {
	written := 0
	for len(p) > 0 {
		n, err := c.Conn.Write(p[:min(len(p), pacedChunk)])
		written += n
		p = p[n:]
		if err == nil {
			err = c.wrote(n)
		}
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

func (c *pacedConn) wrote(n int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending += n
	if err := c.Conn.SetReadDeadline(c.readDeadline()); err != nil {
		return err
	}
	if c.allowed == 0 {
		return nil
	}
	return c.Conn.SetWriteDeadline(time.Now().Add(c.allowed))
}

func (c *pacedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.mu.Lock()
		c.pending = 0
		c.mu.Unlock()
	}
	return n, err
}
