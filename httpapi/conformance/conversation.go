package conformance

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// eventuallyTimeout is how long a step waits for a code that comes in its own time, asking every eventuallyPause.
	eventuallyTimeout = 200 * time.Second
	eventuallyPause   = 2 * time.Second
	// surplusTime is how long a watch is listened to for events that should not come, after those that should.
	surplusTime = 700 * time.Millisecond
)

// conversation is one case with one server.
type conversation struct {
	server   *Server
	clients  clients
	scope    scope
	unique   string // in every name that the case makes
	patience time.Duration
	turn     atomic.Int64
	again    atomic.Int64 // how many requests were sent again
	watches  map[string]*watch
	readers  sync.WaitGroup // what reads the watches
}

// response is what a server answered, decoded but as it was.
type response struct {
	status int
	header http.Header
	body   any
	events []any // of a watch; nil if there is none
	closed bool
}

func newConversation(server *Server, clients clients, firstNode int, patience time.Duration) *conversation {
	random := make([]byte, 4)
	_, _ = rand.Read(random) // never fails
	unique := "t" + hex.EncodeToString(random)
	c := &conversation{server: server, clients: clients, unique: unique, patience: patience, watches: make(map[string]*watch)}
	c.turn.Store(int64(firstNode))
	c.scope = scope{answers: make(map[string]any), names: map[string]string{
		"unique":        unique,
		"ns":            unique + "-a",
		"ns2":           unique + "-b",
		"noSuchNS":      unique + "-none",
		"v1":            "/apis/coordination.k8s.io/v1",
		"beta":          "/apis/coordination.k8s.io/v1beta1",
		"alpha":         "/apis/coordination.k8s.io/v1alpha2",
		"all":           "$(v1)/leases",
		"leases":        "$(v1)/namespaces/$(ns)/leases",
		"leases2":       "$(v1)/namespaces/$(ns2)/leases",
		"candidates":    "$(beta)/namespaces/$(ns)/leasecandidates",
		"allCandidates": "$(beta)/leasecandidates",
	}}
	return c
}

// nextNode is the node to send the next request to.
func (c *conversation) nextNode() string {
	turn := c.turn.Add(1) - 1
	return strings.TrimSuffix(c.server.URLs[turn%int64(len(c.server.URLs))], "/")
}

// hold goes through the steps of a case and returns the answers that are compared; with an error, those before it.
func (c *conversation) hold(ctx context.Context, one Case) (answers []Answer, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer c.readers.Wait()
	defer cancel()
	if !one.NoNamespace {
		if err := c.makeNamespaces(ctx); err != nil {
			return nil, err
		}
	}
	neutral := newNeutraliser(one, c.unique)
	for i, step := range one.Steps {
		got, err := c.take(ctx, step)
		if err != nil {
			return answers, fmt.Errorf("step %d: %w", i+1, err)
		}
		if got == nil {
			continue
		}
		if step.ID != "" {
			c.scope.answers[step.ID] = got.body
			if got.events != nil {
				c.scope.answers[step.ID] = got.events
			}
		}
		answer := neutral.answer(step, got)
		if step.Record != "none" {
			answer.Step = i + 1
			answers = append(answers, answer)
		}
	}
	return answers, nil
}

// makeNamespaces asks for the case's namespaces. A server whose namespaces are there without being made may refuse.
func (c *conversation) makeNamespaces(ctx context.Context) error {
	for _, name := range []string{"ns", "ns2"} {
		object := fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q}}`, c.scope.names[name])
		if _, err := c.send(ctx, Step{Do: "POST /api/v1/namespaces", JSON: json.RawMessage(object)}); err != nil {
			return fmt.Errorf("make the namespaces: %w", err)
		}
	}
	return nil
}

// take does what one step says. Opening a watch has no answer: that comes when it is collected.
func (c *conversation) take(ctx context.Context, step Step) (*response, error) {
	if err := pause(ctx, time.Duration(step.SleepMillis)*time.Millisecond); err != nil {
		return nil, err
	}
	switch {
	case step.Watch != "":
		return nil, c.open(ctx, step, step.Watch, openStream)
	case step.WebSocket != "":
		return nil, c.open(ctx, step, step.WebSocket, openSocket)
	case step.Collect != "":
		opened := c.watches[step.Collect]
		if opened == nil {
			return nil, fmt.Errorf("there is no watch %q", step.Collect)
		}
		return opened.collect(ctx, step, c.patience)
	case step.Parallel > 0:
		return c.sendAtOnce(ctx, step)
	case step.Eventually > 0:
		return c.sendUntil(ctx, step)
	case step.Do != "":
		return c.sendRepeatedly(ctx, step)
	}
	return nil, nil // a pause alone
}

func (c *conversation) sendRepeatedly(ctx context.Context, step Step) (last *response, err error) {
	for i := range max(step.Repeat, 1) {
		c.scope.names["i"] = fmt.Sprintf("%03d", i)
		if last, err = c.send(ctx, step); err != nil {
			return nil, err
		}
	}
	return last, nil
}

func (c *conversation) sendUntil(ctx context.Context, step Step) (*response, error) {
	deadline := time.Now().Add(eventuallyTimeout)
	for {
		got, err := c.send(ctx, step)
		if err != nil || got.status == step.Eventually || time.Now().After(deadline) {
			return got, err
		}
		if err := pause(ctx, eventuallyPause); err != nil {
			return nil, err
		}
	}
}

func (c *conversation) sendAtOnce(ctx context.Context, step Step) (*response, error) {
	answers := make([]*response, step.Parallel)
	failures := make([]error, step.Parallel)
	var sending sync.WaitGroup
	for i := range answers {
		sending.Go(func() { answers[i], failures[i] = c.send(ctx, step) })
	}
	sending.Wait()
	times := make(map[string]int)
	for i, got := range answers {
		if failures[i] != nil {
			return nil, failures[i]
		}
		times[strconv.Itoa(got.status)]++
	}
	body, err := plain(times)
	return &response{header: http.Header{}, body: body}, err
}

func (c *conversation) send(ctx context.Context, step Step) (*response, error) {
	method, path, _ := strings.Cut(step.Do, " ")
	ctx, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	got, err := c.insist(ctx, func() (*http.Response, error) {
		r, err := c.request(ctx, step, method, path)
		if err != nil {
			return nil, err
		}
		return c.clients.any.Do(r)
	})
	if err != nil {
		return nil, err
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err == nil && got.Header.Get("Content-Encoding") == "gzip" {
		body, err = unzip(body)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: read the answer: %w", step.Do, err)
	}
	if got.StatusCode == http.StatusGatewayTimeout && got.Header.Get("Retry-After") == "" {
		return nil, fmt.Errorf("%s: %w: %s", step.Do, errUnknownOutcome, body)
	}
	return &response{status: got.StatusCode, header: got.Header, body: decode(got.Header.Get("Content-Type"), body)}, nil
}

// errUnknownOutcome is 504 without Retry-After: the change may or may not have been made, so the conversation cannot go on. On a
// busy machine that happens.
var errUnknownOutcome = errors.New("504 without Retry-After")

// insist sends a request again as long as the answer is 503 with Retry-After: a node that has done nothing, since it had no
// leader just then. On a busy machine that happens; a single kube-apiserver has no such thing.
func (c *conversation) insist(ctx context.Context, send func() (*http.Response, error)) (*http.Response, error) {
	for {
		got, err := send()
		if err != nil || got.StatusCode != http.StatusServiceUnavailable {
			return got, err
		}
		seconds, err := strconv.Atoi(got.Header.Get("Retry-After"))
		if err != nil {
			return got, nil
		}
		_ = got.Body.Close()
		if err := pause(ctx, time.Duration(seconds)*time.Second); err != nil {
			return nil, fmt.Errorf("503 to the end: %w", err)
		}
		c.again.Add(1)
	}
}

// pause waits unless ctx ends before.
func pause(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
