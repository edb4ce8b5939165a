package testbed

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/jepsen/nemesis"
)

// wire is a connection through a door, with both its ends at hand.
type wire struct {
	links     *links
	door      *door
	near, far net.Conn
}

var there, back = direction{"a", "b"}, direction{"b", "a"}

func layWire(t *testing.T) *wire {
	t.Helper()
	server, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { server.Close() })
	p, err := reservePort(0)
	require.NoError(t, err)
	w := &wire{links: newLinks()}
	w.door = newDoor(w.links, there, p, server.Addr().String())
	require.NoError(t, w.door.open())
	t.Cleanup(w.door.close)
	w.near, err = net.Dial("tcp4", p.address())
	require.NoError(t, err)
	t.Cleanup(func() { w.near.Close() })
	w.far, err = server.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { w.far.Close() })
	return w
}

func say(t *testing.T, conn net.Conn, words string) {
	t.Helper()
	_, err := io.WriteString(conn, words)
	require.NoError(t, err)
}

func hear(t *testing.T, conn net.Conn, words string) {
	t.Helper()
	heard := make([]byte, len(words))
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(time.Minute)))
	_, err := io.ReadFull(conn, heard)
	require.NoError(t, err)
	assert.Equal(t, words, string(heard))
}

// hearNothing listens for a little while.
func hearNothing(t *testing.T, conn net.Conn) {
	t.Helper()
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(100*time.Millisecond)))
	n, err := conn.Read(make([]byte, 1))
	assert.Zero(t, n)
	var timeout net.Error
	require.ErrorAs(t, err, &timeout)
	assert.True(t, timeout.Timeout(), err)
}

func TestDroppedDirectionDeliversAfterHealing(t *testing.T) {
	w := layWire(t)
	say(t, w.near, "a")
	hear(t, w.far, "a")
	w.links.set(back, nemesis.Condition{Drop: true})
	say(t, w.far, "b")
	say(t, w.near, "c")
	hear(t, w.far, "c") // the other way goes on
	require.NoError(t, w.far.Close())
	hearNothing(t, w.near) // neither what was said nor that its speaker is gone
	w.links.set(back, nemesis.Condition{})
	hear(t, w.near, "b")
	_, err := w.near.Read(make([]byte, 1))
	assert.ErrorIs(t, err, io.EOF)
}

func TestDelayKeepsTheOrderOfAStream(t *testing.T) {
	w := layWire(t)
	w.links.set(there, nemesis.Condition{Delay: 20 * time.Millisecond, Jitter: 20 * time.Millisecond})
	for range 50 {
		say(t, w.near, "0123456789")
	}
	for range 50 {
		hear(t, w.far, "0123456789")
	}
}

func TestDelayHoldsBack(t *testing.T) {
	w := layWire(t)
	w.links.set(there, nemesis.Condition{Delay: time.Hour})
	say(t, w.near, "a")
	hearNothing(t, w.far)
}

func TestDoorThatIsShutRefusesAndKeepsItsPort(t *testing.T) {
	server, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer server.Close()
	p, err := reservePort(0)
	require.NoError(t, err)
	d := newDoor(newLinks(), there, p, server.Addr().String())
	defer d.close()
	for range 2 {
		_, err = net.Dial("tcp4", p.address())
		require.ErrorContains(t, err, "refused")
		require.NoError(t, d.open())
		conn, err := net.Dial("tcp4", p.address())
		require.NoError(t, err)
		conn.Close()
		d.shut()
	}
}

func TestResetBreaksWhatThereIsAndWhatComes(t *testing.T) {
	w := layWire(t)
	say(t, w.near, "a")
	hear(t, w.far, "a")
	w.links.set(back, nemesis.Condition{Reset: true})
	w.door.reset()
	for _, end := range []net.Conn{w.near, w.far} {
		_, err := end.Read(make([]byte, 1))
		assert.ErrorContains(t, err, "reset")
	}
	late, err := net.Dial("tcp4", w.door.port.address())
	if err == nil { // the reset may come as early as that
		defer late.Close()
		_, err = late.Read(make([]byte, 1))
	}
	assert.ErrorContains(t, err, "reset")
}
