package fsm

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func applied(m *Machine, commands ...Command) []Result {
	index, _ := m.Applied()
	return m.Apply(entry(index+1, 1, commands...)).([]Result)
}

func TestRepeatReturnsTheKeptResult(t *testing.T) {
	m := opened(t)
	first := create(1, "x")
	require.Equal(t, []Result{{Accepted, 1001}}, applied(m, first))
	require.Equal(t, []Result{{Exists, 1001}}, applied(m, create(2, "x")))
	require.Equal(t, []Result{{Accepted, 1002}}, applied(m, remove(3, "x")))
	require.Equal(t, []Result{{Accepted, 1001}, {Exists, 1001}, {Accepted, 1002}},
		applied(m, first, create(2, "x"), remove(3, "x")), "results as they were, though the key is free now")
	require.Equal(t, uint64(1002), m.State().Revision())

	copied := restored(t, Options{}, snapshotOf(t, m))
	require.Equal(t, []Result{{Accepted, 1001}, {Exists, 1001}, {Accepted, 1002}},
		applied(copied, first, create(2, "x"), remove(3, "x")), "across snapshot and restore too")
	require.Equal(t, uint64(1002), copied.State().Revision())
}

func TestSeqAtOrBelowTheMarkIsStale(t *testing.T) {
	m := opened(t)
	marked := create(5, "x")
	marked.Mark = 3
	require.Equal(t, []Result{{Accepted, 1001}}, applied(m, marked))
	require.Equal(t, []Result{{Stale, 1001}, {Stale, 1001}, {Accepted, 1002}}, applied(m, create(0, "y"), create(3, "y"), create(4, "y")))
	contradiction := create(9, "z")
	contradiction.Mark = 9
	require.Equal(t, []Result{{Stale, 1002}}, applied(m, contradiction), "given up before it came")
	require.Equal(t, []Result{{Stale, 1002}}, applied(m, marked))
}

func TestCommandOfNoSessionNeverApplies(t *testing.T) {
	m := opened(t)
	stranger := create(1, "x")
	stranger.Session = SessionID{99}
	require.Equal(t, []Result{{Ended, 1000}}, applied(m, stranger))
	require.Zero(t, m.State().Len())
}

func TestEndedSessionStaysEnded(t *testing.T) {
	open := func(id SessionID, node string) Command {
		return Command{Op: OpOpenSession, Session: id, Node: node}
	}
	m := opened(t)
	require.Equal(t, []Result{{Accepted, 1000}}, applied(m, open(sessionOne, "n1")), "opening twice is one session")
	require.Equal(t, []Result{{Conflict, 1000}}, applied(m, open(sessionOne, "n2")), "an ID belongs to one node")
	require.Equal(t, []Result{{Accepted, 1001}}, applied(m, create(1, "x")))
	require.Equal(t, []Result{{Accepted, 1001}}, applied(m, open(SessionID{2}, "n1")), "a newer run ends the older")
	require.Equal(t, []Result{{Ended, 1001}, {Ended, 1001}}, applied(m, create(1, "x"), create(2, "y")))

	for _, m := range []*Machine{m, restored(t, Options{}, snapshotOf(t, m))} {
		require.Equal(t, []Result{{Ended, 1001}, {Ended, 1001}}, applied(m, open(sessionOne, "n1"), create(2, "y")),
			"a late copy of the opening brings nothing back")
		newer := create(1, "z")
		newer.Session = SessionID{2}
		require.Equal(t, []Result{{Accepted, 1002}}, applied(m, newer), "nor does it end the newer run")
		require.Equal(t, []Result{{Accepted, 1002}}, applied(m, Command{Op: OpEndSession, Node: "n1"}))
		newer.Seq = 2
		require.Equal(t, []Result{{Ended, 1002}}, applied(m, newer))
		require.Empty(t, m.sessions.open)
	}
}

func TestEndedSessionsAreRememberedUpToABound(t *testing.T) {
	m := New(Options{})
	for i := range endedSessions + 10 {
		applied(m, Command{Op: OpOpenSession, Session: SessionID{byte(i), byte(i >> 8)}, Node: "n1"})
	}
	require.Len(t, m.sessions.ended, endedSessions)
	require.Len(t, m.sessions.open, 1)
	require.Equal(t, []Result{{Ended, 1000}}, applied(m, Command{Op: OpOpenSession, Session: SessionID{9}, Node: "n1"}))
}

func TestResultsOfASessionAreBounded(t *testing.T) {
	m := opened(t)
	require.Equal(t, []Result{{Accepted, 1001}, {Accepted, 1002}}, applied(m, create(1, "x"), create(2, "y")))
	require.Equal(t, []Result{{Accepted, 1003}}, applied(m, create(sessionWindow+1, "z")))
	require.Equal(t, []Result{{Stale, 1003}, {Accepted, 1002}}, applied(m, create(1, "x"), create(2, "y")),
		"the seqs that fell out of the window are refused, the others' results still kept")
	require.Len(t, m.sessions.open[sessionOne].slots, sessionWindow)
	applied(m, create(^uint64(0), "last"), create(^uint64(0)-sessionWindow, "w"))
	require.Equal(t, []Result{{Accepted, 1004}, {Stale, 1004}}, applied(m, create(^uint64(0), "last"), create(2, "y")))
	require.Len(t, m.sessions.open[sessionOne].slots, sessionWindow)
	require.Equal(t, snapshotOf(t, m), snapshotOf(t, restored(t, Options{}, snapshotOf(t, m))))
}

func TestOnlyTheFirstFormingHasEffect(t *testing.T) {
	m := New(Options{})
	form := func(incarnation string) Command {
		return Command{Op: OpForm, Incarnations: map[string]string{"n1": incarnation}}
	}
	require.Equal(t, []Result{{Accepted, 1000}, {Accepted, 1000}, {Exists, 1000}}, applied(m, form("i"), form("i"), form("j")))
	incarnation, _ := m.Incarnation("n1")
	require.Equal(t, "i", incarnation)
}
