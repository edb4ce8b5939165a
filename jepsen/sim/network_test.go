package sim

import (
	"context"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/jepsen/nemesis"
)

// joined are two processes and a connection from the first to the second.
type joined struct {
	network   *network
	a, b      *process
	near, far net.Conn
}

func join(t *testing.T) joined {
	j := joined{network: newNetwork([]string{"a", "b"}, time.Millisecond, 1)}
	j.a, j.b = &process{id: "a"}, &process{id: "b"}
	l := j.network.listen(j.b, serviceCalls)
	accepted := make(chan net.Conn, 1)
	go func() {
		c, err := l.Accept()
		assert.NoError(t, err)
		accepted <- c
	}()
	var err error
	j.near, err = j.network.dial(t.Context(), j.a, "b", serviceCalls)
	require.NoError(t, err)
	j.far = <-accepted
	return j
}

// say sends a word one way and returns how long it took to arrive.
func say(t *testing.T, from, to net.Conn) time.Duration {
	began := time.Now()
	_, err := from.Write([]byte("word"))
	require.NoError(t, err)
	word := make([]byte, 4)
	_, err = io.ReadFull(to, word)
	require.NoError(t, err)
	require.Equal(t, "word", string(word))
	return time.Since(began)
}

func TestACutHoldsOneDirectionUntilItHeals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := join(t)
		require.NoError(t, j.network.set("a", "b", nemesis.Condition{Drop: true}))
		assert.Less(t, say(t, j.far, j.near), 3*time.Millisecond, "the other direction is well")
		go func() {
			time.Sleep(10 * time.Second)
			assert.NoError(t, j.network.set("a", "b", nemesis.Condition{}))
		}()
		took := say(t, j.near, j.far)
		assert.GreaterOrEqual(t, took, 10*time.Second)
		assert.LessOrEqual(t, took, 10*time.Second+maxResend)
		require.NoError(t, j.network.set("a", "b", nemesis.Condition{Drop: true}))
		require.NoError(t, j.far.SetReadDeadline(time.Now().Add(time.Second)))
		_, err := j.far.Read(make([]byte, 1))
		assert.ErrorIs(t, err, os.ErrDeadlineExceeded)

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = j.network.dial(ctx, j.a, "b", serviceCalls)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestDelayKeepsTheOrderOfBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := join(t)
		require.NoError(t, j.network.set("a", "b", nemesis.Condition{Delay: 50 * time.Millisecond, Jitter: 50 * time.Millisecond, Loss: 0.3}))
		for i := range 100 {
			_, err := j.near.Write([]byte{byte(i)})
			require.NoError(t, err)
		}
		require.NoError(t, j.near.Close())
		got, err := io.ReadAll(j.far)
		require.NoError(t, err)
		require.Len(t, got, 100)
		for i := range got {
			require.Equal(t, byte(i), got[i])
		}
	})
}

func TestAResetBreaksConnectionsAndRefusesNewOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := join(t)
		require.NoError(t, j.network.set("b", "a", nemesis.Condition{Reset: true}))
		_, err := j.far.Read(make([]byte, 1))
		assert.ErrorIs(t, err, syscall.ECONNRESET)
		_, err = j.network.dial(t.Context(), j.a, "b", serviceCalls)
		assert.ErrorIs(t, err, syscall.ECONNREFUSED)
	})
}

func TestADeadProcessIsHeardOfAndADarkMachineOnlyLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := join(t)
		j.network.hangUp(j.b)
		_, err := j.near.Read(make([]byte, 1))
		assert.ErrorIs(t, err, syscall.ECONNRESET)
		_, err = j.network.dial(t.Context(), j.a, "b", serviceCalls)
		assert.ErrorIs(t, err, syscall.ECONNREFUSED)

		j = join(t)
		j.network.silence(j.b)
		require.NoError(t, j.near.SetReadDeadline(time.Now().Add(time.Minute)))
		_, err = j.near.Read(make([]byte, 1))
		assert.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.NoError(t, j.near.SetReadDeadline(time.Time{}))
		j.network.answer(j.b)
		_, err = j.near.Read(make([]byte, 1))
		assert.ErrorIs(t, err, syscall.ECONNRESET)
		require.NoError(t, j.near.Close())
		require.NoError(t, j.far.Close())
		assert.Empty(t, j.network.conns)
	})
}

func TestWritersWaitForReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := join(t)
		require.NoError(t, j.near.SetWriteDeadline(time.Now().Add(time.Second)))
		sent := 0
		for {
			n, err := j.near.Write(make([]byte, 64<<10))
			sent += n
			if err != nil {
				assert.ErrorIs(t, err, os.ErrDeadlineExceeded)
				break
			}
		}
		assert.Equal(t, window, sent)
	})
}
