package check

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/jepsen/history"
)

// reads is a history of a create, an update and a read that shows what they made, or with stale what was before.
func reads(t *testing.T, stale bool) *history.History {
	b := history.NewBuilder()
	now := int64(0)
	do := func(f string, in history.Request, revision uint64, id string) {
		now += 2
		v := &history.Version{Key: "a/x", UID: "u", Revision: revision, ID: id}
		require.NoError(t, b.Add(history.Event{Index: now, Time: now, Process: "1", Type: history.Invoke, F: f, Node: "node-1", Request: &in}))
		require.NoError(t, b.Add(history.Event{Index: now + 1, Time: now + 1, Process: "1", Type: history.OK, Answer: &history.Answer{Code: 200, Version: v}}))
	}
	do(history.Create, history.Request{Key: "a/x", ID: "w1"}, 1001, "w1")
	do(history.Update, history.Request{Key: "a/x", ID: "w2", Revision: "1001"}, 1002, "w2")
	if stale {
		do(history.Get, history.Request{Key: "a/x"}, 1001, "w1")
	} else {
		do(history.Get, history.Request{Key: "a/x"}, 1002, "w2")
	}
	return b.History()
}

func TestTheSecondOpinionFindsAStaleReadByItself(t *testing.T) {
	l, _ := merge(reads(t, true), Options{}.withDefaults())
	result := judgeLinear(l, nil)
	require.Len(t, result.Findings, 1)
	assert.Equal(t, "harness", result.Findings[0].Guarantee, "nobody else found it, so the two disagree")

	l, _ = merge(reads(t, false), Options{}.withDefaults())
	result = judgeLinear(l, nil)
	assert.Equal(t, Pass, result.Verdict)
	assert.Equal(t, 3, result.Checked)
}

func TestTheSecondOpinionAgreesInSilence(t *testing.T) {
	report := Judge(reads(t, true), Options{})
	last := report.Results[len(report.Results)-1]
	assert.Equal(t, "linear", last.Checker)
	assert.Equal(t, Broken, last.Verdict)
	assert.Empty(t, last.Findings)
	assert.Contains(t, last.Note, "agrees")
}

func TestASecondOpinionThatHasNoTimeIsNoPass(t *testing.T) {
	report := Judge(reads(t, false), Options{LinearTimeout: time.Nanosecond})
	assert.Equal(t, Unknown, report.Verdict)
	assert.Contains(t, report.Sentence, "no time")
}

func TestCrowdsAreLeftOut(t *testing.T) {
	l, _ := merge(reads(t, false), Options{}.withDefaults())
	require.Len(t, l.partitions(100), 1)
	assert.Empty(t, l.partitions(2), "more operations than it may take")
	for i := range l.h.Operations {
		l.h.Operations[i].Returned = 1000
	}
	for range linearClients {
		l.h.Operations = append(l.h.Operations, l.h.Operations[2])
		l.opKey, l.opEntry = append(l.opKey, l.opKey[2]), append(l.opEntry, none)
	}
	assert.Empty(t, l.partitions(100), "more operations at once than it can search")
}

func TestATimelineShowsTheFailingObjectAndTheFaults(t *testing.T) {
	h := reads(t, true)
	h.Windows = []history.Window{{Fault: history.Fault{Name: "pause-leader-7", Family: "pause"}, Kind: "pause-leader", Start: 1, Stop: 5}}
	var page strings.Builder
	require.NoError(t, WriteTimeline(h, Judge(h, Options{}), &page))
	assert.Contains(t, page.String(), "<html")
	assert.Contains(t, page.String(), "a/x: get 1001")
	assert.Contains(t, page.String(), "pause-leader-7")
}

func TestLogsMayNotTellOfPanics(t *testing.T) {
	const text = "2026-12-01 [INFO] ready\npanic: runtime error: index out of range\nWARNING: DATA RACE\n[INFO]  do not panic: all is well\nfatal error: all goroutines are asleep - deadlock!\n"
	findings, err := Logs("node-1", strings.NewReader(text))
	require.NoError(t, err)
	assert.Len(t, findings, 3)
	assert.Contains(t, findings[0].Sentence, "node-1 wrote in line 2 of its log: panic: runtime error")
	findings, err = Logs("node-1", strings.NewReader(text), "index out of range")
	require.NoError(t, err)
	assert.Len(t, findings, 2)
}

func TestRevisionsFarApartAreFound(t *testing.T) {
	var r revisions
	all := []uint64{1_000_000, 1_000_001, 5, 1 << 60, 1_000_002, 1 << 21, 3 << 20}
	for i, revision := range all {
		_, known := r.find(revision)
		assert.False(t, known)
		r.put(revision, int32(i), i+1)
	}
	for i, revision := range all {
		at, known := r.find(revision)
		assert.True(t, known)
		assert.Equal(t, int32(i), at)
	}
	assert.Less(t, len(r.table), 8<<20)
}

func TestHeartbeatsThatAreMissedAreTold(t *testing.T) {
	b := history.NewBuilder()
	for i, at := range []int64{0, 10, 20, 55, 65} {
		v := &history.Version{Key: "a/x", UID: "u", Revision: uint64(1001 + i), ID: "w" + decimal(uint64(i))}
		in := &history.Request{Key: "a/x", ID: v.ID, Revision: decimal(uint64(1000 + i))}
		require.NoError(t, b.Add(history.Event{Time: at * 1e9, Process: "1", Type: history.Invoke, F: history.Update, Request: in}))
		require.NoError(t, b.Add(history.Event{Time: at*1e9 + 1, Process: "1", Type: history.OK, Answer: &history.Answer{Code: 200, Version: v}}))
	}
	h := b.History()
	report := Judge(h, Options{Heartbeat: 10 * time.Second, HeartbeatMissed: 2})
	assert.Equal(t, Broken, report.Verdict)
	assert.Contains(t, report.Sentence, "heartbeat.D5: a/x was not renewed for 35.0 s, 3 renewals in a row")
	assert.Equal(t, Pass, Judge(h, Options{Heartbeat: 10 * time.Second, HeartbeatMissed: 3}).Verdict)
}
