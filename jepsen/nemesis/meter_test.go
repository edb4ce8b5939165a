package nemesis

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/jepsen/history"
)

// done is a call from its invocation to its completion, in milliseconds.
func done(m *Meter, process, node string, from, to int64, outcome history.Type, answer *history.Answer) {
	m.Follow(history.Event{Process: process, Type: history.Invoke, F: history.Create, Node: node, Time: from * int64(time.Millisecond)})
	m.Follow(history.Event{Process: process, Type: outcome, Answer: answer, Time: to * int64(time.Millisecond)})
}

func TestMeterCountsWhatClientsWentThrough(t *testing.T) {
	m := NewMeter()
	for i := range int64(10) { // a calm second
		done(m, "1", "n1", 100*i, 100*i+2, history.OK, &history.Answer{Code: 201})
	}
	before := m.Read()
	for i := range int64(10) {
		done(m, "1", "n1", 1000+100*i, 1050+100*i, history.OK, &history.Answer{Code: 201})
	}
	done(m, "2", "n2", 2000, 2010, history.Info, nil)
	done(m, "3", "n2", 2000, 2010, history.Fail, &history.Answer{})
	done(m, "4", "n2", 2000, 2010, history.Fail, &history.Answer{Code: 409})
	m.Follow(history.Event{Process: "5", Type: history.Invoke, F: history.Get, Node: "n1"})
	m.Follow(history.Event{Process: "6", Type: history.Invoke, F: history.Watch, Node: "n1"})
	m.Follow(history.Event{Process: "6", Type: history.OK})

	now := m.Read()
	assert.Equal(t, int64(24), now.Called, "a watch is no call")
	assert.Equal(t, int64(20), now.OK)
	assert.Equal(t, int64(2), now.Fail)
	assert.Equal(t, int64(1), now.Unknown)
	assert.Equal(t, map[string]int64{"n2": 2}, now.Lost, "a refusal is an answer")
	assert.Equal(t, 1, now.InFlight)
	assert.Equal(t, 2*time.Millisecond, now.Calm)
	mean, n := now.mean(before)
	assert.Equal(t, int64(13), n)
	assert.Equal(t, 530*time.Millisecond/13, mean)
}

func TestMeterTellsHowNodesDateObjects(t *testing.T) {
	m := NewMeter()
	before := time.Now()
	created := func(offset time.Duration) *history.Answer {
		return &history.Answer{Code: 201, Version: &history.Version{Created: time.Now().Add(offset).Unix()}}
	}
	done(m, "1", "n1", 1, 2, history.OK, created(-time.Hour))
	done(m, "1", "n1", 3, 4, history.OK, created(0))
	off, ok := m.dated("n1", before)
	require.True(t, ok)
	assert.InDelta(t, -time.Hour, off, float64(2*time.Second))
	_, ok = m.dated("n1", time.Now())
	assert.False(t, ok, "nothing was created since")
	_, ok = m.dated("n2", before)
	assert.False(t, ok)
	_, ok = (*Meter)(nil).dated("n1", before)
	assert.False(t, ok, "without a meter nothing is known")
	assert.Zero(t, (*Meter)(nil).Read())
}

func TestCoverCountsFaultsOverlapsAndElections(t *testing.T) {
	window := func(kind string, start, stop int64, effect, err string) history.Window {
		return history.Window{Kind: kind, Start: start, Stop: stop, Fault: history.Fault{Effect: effect, Error: err}}
	}
	led := func(term uint64) history.Event {
		return history.Event{Sample: &history.Sample{Role: "leader", Term: term}}
	}
	c := Cover(&history.History{
		Windows: []history.Window{
			window("pause", 1, 5, "felt", ""), window("kill", 3, 6, "felt", ""), window("kill", 4, 9, "", ""),
			window("delay", 6, 8, "", "no"), window("loss", 20, history.Never, "", ""),
		},
		Samples: []history.Event{led(2), led(2), led(3), {Sample: &history.Sample{Role: "candidate", Term: 7}}, led(5)},
	})
	assert.Equal(t, Count{Struck: 5, Felt: 2, Failed: 1, Open: 1}, c.Faults)
	assert.Equal(t, Count{Struck: 2, Felt: 1}, c.Kinds["kill"])
	assert.Equal(t, map[string]int{"kill+pause": 2, "kill+kill": 1, "delay+kill": 1}, c.Overlaps)
	assert.Equal(t, 3, c.AtOnce)
	assert.Equal(t, 2, c.Elections)
	assert.Equal(t, uint64(7), c.Term)
	assert.Equal(t, []string{"delay", "loss"}, c.Unfelt())
	assert.Equal(t, "5 faults of 4 kinds, 2 felt, at most 3 at once, 2 elections; never felt: delay, loss", c.String())
}
