package workload_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/jepsen/history"
	"github.com/leasehold/leasehold/jepsen/workload"
)

// inside runs electors within the test's own process.
type inside struct {
	mu    sync.Mutex
	tasks []workload.ElectorTask
}

func (i *inside) Start(_ context.Context, task workload.ElectorTask) (workload.ElectorProcess, error) {
	i.mu.Lock()
	i.tasks = append(i.tasks, task)
	i.mu.Unlock()
	task.Encoding = "application/json" // the only one that the fake knows
	description, err := json.Marshal(task)
	if err != nil {
		return nil, err
	}
	in, input := io.Pipe()
	output, out := io.Pipe()
	p := &insider{input: input, output: output, ended: make(chan error, 1)}
	go func() {
		err := workload.RunElectors(context.Background(), in, out)
		out.Close()
		p.ended <- err
	}()
	_, err = input.Write(append(description, '\n'))
	return p, err
}

type insider struct {
	input  io.Closer
	output io.Reader
	ended  chan error
}

func (p *insider) Lines() io.Reader       { return p.output }
func (p *insider) Signal(os.Signal) error { return nil }
func (p *insider) Stop() error            { p.input.Close(); return <-p.ended }

func TestElectorsTellWhenTheyBeginAndStopToLead(t *testing.T) {
	server := httptest.NewServer(newFake())
	defer server.Close()
	var file bytes.Buffer
	led := make(chan struct{})
	var once sync.Once
	recorder := history.NewRecorder(&file, func(e history.Event) {
		if e.Type == history.Lead && e.Tenure.Client != e.Process {
			once.Do(func() { close(led) })
		}
	})
	electors := &inside{}
	w, err := workload.New(workload.Options{Endpoints: []workload.Endpoint{{Node: "node-1", URL: server.URL, Client: server.Client()}}, Recorder: recorder, Rate: 10,
		Clients: 12, Prefix: "t", Electors: electors}, "election")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	go func() {
		select {
		case <-led:
		case <-ctx.Done():
		}
		cancel()
	}()
	require.NoError(t, w.Run(ctx))
	require.NoError(t, recorder.Flush())
	h, err := history.Read(&file)
	require.NoError(t, err)

	wanted := make(map[string]int)
	for _, task := range electors.tasks {
		for _, lease := range task.Leases {
			wanted[lease]++
		}
	}
	assert.Equal(t, map[string]int{"t-election-0/l000": 3, "t-election-0/l001": 3, "t-election-0/l002": 3, "t-election-0/l003": 3}, wanted)
	open := make(map[string]*history.Tenure)
	for _, e := range h.Tenures {
		switch e.Type {
		case history.Lead:
			assert.Nil(t, open[e.Process])
			assert.InDelta(t, e.Time, e.Tenure.At, float64(5*time.Second), "on the history's clock")
			assert.Equal(t, e.Tenure.Client == "election-p0", e.Tenure.Disturb && e.Tenure.Client != e.Process)
			open[e.Process] = e.Tenure
		case history.Yield:
			require.NotNil(t, open[e.Process])
			assert.GreaterOrEqual(t, e.Tenure.At, open[e.Process].At)
			delete(open, e.Process)
		}
	}
	assert.NotEmpty(t, h.Tenures)
	assert.Empty(t, open, "whoever led has yielded")
}

func TestCandidatesOfOneClockNeverLeadAtOnce(t *testing.T) {
	h := lived(t, newFake, 20*time.Minute, "election")
	tenures, takeovers := 0, make(map[string]map[string]bool)
	holder := make(map[string]string)
	for _, e := range h.Tenures {
		switch {
		case e.Tenure.Disturb:
		case e.Type == history.Lead:
			tenures++
			assert.Empty(t, holder[e.Tenure.Key], "%s while %s", e.Process, holder[e.Tenure.Key])
			holder[e.Tenure.Key] = e.Process
			if takeovers[e.Tenure.Key] == nil {
				takeovers[e.Tenure.Key] = make(map[string]bool)
			}
			takeovers[e.Tenure.Key][e.Process] = true
		default:
			delete(holder, e.Tenure.Key)
		}
	}
	assert.Greater(t, tenures, 5)
	assert.Len(t, takeovers["t-election-1/own000"], 3, "all rivals lead some time")
}

func TestACandidateThatCannotRenewYields(t *testing.T) {
	h := lived(t, func() *fake {
		f := newFake()
		began := time.Now()
		f.fault = silenceAfter(began, 10*time.Second, 30*time.Second)
		return f
	}, 25*time.Second, "election")
	var renewed, yielded int64
	for _, op := range h.Operations {
		if op.Outcome == history.OK && (op.F == history.Update || op.F == history.Create) && op.Returned < (10*time.Second).Nanoseconds() {
			renewed = op.Returned
		}
	}
	for _, e := range h.Tenures {
		if e.Type == history.Yield && yielded == 0 {
			yielded = e.Tenure.At
		}
	}
	require.NotZero(t, renewed)
	require.NotZero(t, yielded)
	assert.LessOrEqual(t, yielded-renewed, (5 * time.Second).Nanoseconds(), "at its deadline, though it waits for an answer")
}
