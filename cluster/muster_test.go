package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMusterWaitsOnlyInCompany(t *testing.T) {
	var m muster
	now := time.Now()
	require.Zero(t, m.wait(1, now), "nothing was answered yet")

	m.ended(40, 8, now)
	require.Equal(t, musterLimit, m.wait(8, now))
	require.Equal(t, musterLimit-time.Millisecond, m.wait(35, now.Add(time.Millisecond)))
	require.Zero(t, m.wait(36, now), "three quarters of 48 are there")
	require.Zero(t, m.wait(8, now.Add(musterLimit)), "the others may never come")
	require.Zero(t, m.wait(8, now.Add(time.Hour)))

	m.ended(musterFloor-2, 1, now)
	require.Zero(t, m.wait(1, now), "too few are about")
}

// A caller that is left alone after a crowd must not wait for it.
func TestMusterEndsByItself(t *testing.T) {
	var m muster
	m.ended(64, 0, time.Now())
	left := make(chan struct{}, 2)
	m.later(time.Hour, func() { left <- struct{}{} })
	m.later(m.wait(1, time.Now()), nil)
	select {
	case <-left:
	case <-time.After(30 * time.Second):
		t.Fatal("nobody said that the wait is over")
	}
}
