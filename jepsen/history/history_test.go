package history_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/jepsen/history"
)

func TestWhatIsRecordedIsReadBack(t *testing.T) {
	var file bytes.Buffer
	var followed []int64
	var events []history.Event
	r := history.NewRecorder(&file, func(e history.Event) {
		followed = append(followed, e.Index)
		events = append(events, e)
	})
	r.Record(history.Event{Process: "1", Type: history.Invoke, F: history.Create, Node: "node-1", Request: &history.Request{Key: "a/x", ID: "w1"}})
	r.Record(history.Event{Process: "w", Type: history.Invoke, F: history.Watch, Node: "node-2", Request: &history.Request{Revision: "1000"}})
	r.Record(history.Event{Process: "nemesis", Type: history.Start, F: "kill", Fault: &history.Fault{Name: "kill-1", Family: "kill"}})
	r.Record(history.Event{Process: "1", Type: history.OK, Answer: &history.Answer{Code: 201, Version: &history.Version{Key: "a/x", Revision: 1001, ID: "w1"}}})
	r.Record(history.Event{Process: "w", Type: history.OK, Answer: &history.Answer{Code: 200}})
	r.Record(history.Event{Process: "w", Type: history.Seen, Change: &history.Change{Type: "ADDED", Version: &history.Version{Key: "a/x", Revision: 1001}}})
	r.Record(history.Event{Process: "w", Type: history.End, Note: history.EndedByServer})
	r.Record(history.Event{Process: "nemesis", Type: history.Stop, F: "kill", Fault: &history.Fault{Name: "kill-1", Effect: "a new leader", Nodes: []string{"node-1"}, Detail: map[string]string{"how": "kill"}}})
	r.Record(history.Event{Process: "1", Type: history.Invoke, F: history.Get, Request: &history.Request{Key: "a/x"}})
	r.Record(history.Event{Process: "2", Type: history.Invoke, F: history.Delete, Request: &history.Request{Key: "a/x", ID: "w2"}})
	r.Record(history.Event{Process: "2", Type: history.Info})
	require.NoError(t, r.Flush())
	assert.Equal(t, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, followed)

	var later bytes.Buffer
	require.NoError(t, history.Write(&later, events))
	assert.Equal(t, file.String(), later.String(), "the same lines")

	h, err := history.Read(&file)
	require.NoError(t, err)
	require.Len(t, h.Operations, 3)
	created := h.Operations[0]
	assert.Equal(t, history.OK, created.Outcome)
	assert.Equal(t, uint64(1001), created.Answer.Version.Revision)
	assert.LessOrEqual(t, created.Invoked, created.Returned)
	assert.Equal(t, history.Info, h.Operations[1].Outcome, "what was never answered is unknown")
	assert.Equal(t, int64(history.Never), h.Operations[1].Returned)
	assert.Equal(t, int64(history.Never), h.Operations[2].Returned, "an unknown outcome returns never")
	assert.NotEqual(t, int64(history.Never), h.Operations[2].Settled)
	require.Len(t, h.Streams, 1)
	assert.Len(t, h.Streams[0].Changes, 1)
	assert.Equal(t, history.EndedByServer, h.Streams[0].Reason)
	require.Len(t, h.Windows, 1)
	assert.Equal(t, "a new leader", h.Windows[0].Effect)
	assert.Equal(t, "kill", h.Windows[0].Kind)
	assert.Equal(t, []string{"node-1"}, h.Windows[0].Nodes, "what became known while it lasted")
	assert.Equal(t, map[string]string{"how": "kill"}, h.Windows[0].Detail)
}

func TestALastLineCutShortIsLeftOut(t *testing.T) {
	h, err := history.Read(strings.NewReader(`{"i":1,"t":5,"p":"1","type":"invoke","f":"get","in":{"key":"a/x"}}` + "\n" + `{"i":2,"t":6,"p":"1","ty`))
	require.NoError(t, err)
	assert.Len(t, h.Operations, 1)
}

func TestReadNamesTheLineThatCannotBe(t *testing.T) {
	const call = `{"i":1,"t":5,"p":"1","type":"invoke","f":"get","in":{"key":"a/x"}}` + "\n"
	for name, lines := range map[string]string{
		"two calls at once":        call + call,
		"an answer without call":   call + `{"i":2,"t":6,"p":"2","type":"ok"}` + "\n",
		"a fault that never was":   call + `{"i":2,"t":6,"p":"nemesis","type":"stop","fault":{"name":"kill-1"}}` + "\n",
		"an event of no watch":     call + `{"i":2,"t":6,"p":"1","type":"seen","seen":{"type":"ADDED"}}` + "\n",
		"damage in the middle":     call + "{\n" + call,
		"a type nobody knows":      call + `{"i":2,"t":6,"p":"1","type":"perhaps"}` + "\n",
		"a call without a request": call + `{"i":2,"t":6,"p":"2","type":"invoke","f":"get"}` + "\n",
	} {
		_, err := history.Read(strings.NewReader(lines))
		assert.ErrorContains(t, err, "line 2", name)
	}
}
