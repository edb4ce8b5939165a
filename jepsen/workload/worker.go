package workload

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/leasehold/leasehold/jepsen/history"
)

const (
	// patience is how long an operation usually may take. It is longer than a server's own deadline for a write, 2.5 s, so that the
	// server has the word about what became of it if it can.
	patience = 4 * time.Second
	// maxAnswer bounds an answer: some thousand objects.
	maxAnswer = 64 << 20
)

// worker is one client that does one thing after another. It is for one goroutine.
type worker struct {
	scene *scene
	name  string
	life  int // rises when the name it goes by in the history is used up
	count int // of writes
	rng   *rand.Rand
	// patience is how long an operation may take.
	patience time.Duration
}

// process is the worker's name in the history.
func (w *worker) process() string {
	if w.life == 0 {
		return w.name
	}
	return w.name + "." + strconv.Itoa(w.life)
}

// next makes the ID of a write.
func (w *worker) next() string {
	w.count++
	return w.name + "-" + strconv.Itoa(w.count)
}

// endpoint is any node.
func (w *worker) endpoint() Endpoint { return w.scene.Endpoints[w.rng.IntN(len(w.scene.Endpoints))] }

// chance is true with a probability in percent.
func (w *worker) chance(percent int) bool { return w.rng.IntN(100) < percent }

// message is an operation as HTTP has it.
type message struct {
	method string
	path   string
	query  url.Values
	media  string // of the body
	body   []byte
}

// do attempts one operation once and records it. What it began it finishes, whatever becomes of ctx, for nothing is
// gained by giving up a write half way.
func (w *worker) do(ctx context.Context, e Endpoint, f string, request history.Request, m message) result {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.patience)
	defer cancel()
	w.scene.Recorder.Record(history.Event{Process: w.process(), Type: history.Invoke, F: f, Node: e.Node, Request: &request})
	code, header, body, x := send(ctx, e, m)
	answer := history.Answer{Code: code, RetryAfter: x.retryAfter}
	if x.err != nil {
		answer.Error = x.err.Error()
	}
	r := result{Answer: &answer, Outcome: outcome(f, x), Header: header}
	r.read(f, body, w.scene.objects)
	w.scene.saw(&answer)
	w.scene.Recorder.Record(history.Event{Process: w.process(), Type: r.Outcome, F: f, Node: e.Node, Answer: &answer})
	if r.Outcome == history.Info {
		w.life++
		w.scene.doubt.Store(true)
	}
	return r
}

// send makes one attempt and reads the answer to its end.
func send(ctx context.Context, e Endpoint, m message) (code int, header http.Header, body []byte, x exchange) {
	var asked, had atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { asked.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { had.Store(true) },
	})
	request, err := newRequest(ctx, e, m)
	if err != nil {
		return 0, nil, nil, exchange{err: err, unsent: true}
	}
	response, err := client(e).Do(request)
	if err != nil {
		// Transports that know no connections, as a simulation's, leave both false, and the outcome to the error.
		return 0, nil, nil, exchange{err: err, unsent: asked.Load() && !had.Load()}
	}
	defer response.Body.Close()
	x = exchange{code: response.StatusCode, retryAfter: response.Header.Get("Retry-After") != ""}
	body, x.err = io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if x.err == nil && len(body) > maxAnswer {
		x.err = errors.New("the answer is too long")
	}
	return response.StatusCode, response.Header, body, x
}

// client is an endpoint's, but follows no redirects: they would be further attempts.
func client(e Endpoint) *http.Client {
	c := *e.Client
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

func newRequest(ctx context.Context, e Endpoint, m message) (*http.Request, error) {
	target := e.URL + m.path
	if len(m.query) > 0 {
		target += "?" + m.query.Encode()
	}
	var body io.Reader
	if m.body != nil {
		body = bytes.NewReader(m.body)
	}
	request, err := http.NewRequestWithContext(ctx, m.method, target, body)
	if err != nil {
		return nil, fmt.Errorf("make a request to %s: %w", e.Node, err)
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "jepsen")
	if m.media != "" {
		request.Header.Set("Content-Type", m.media)
	}
	if e.Token != "" {
		request.Header.Set("Authorization", "Bearer "+e.Token)
	}
	return request, nil
}
