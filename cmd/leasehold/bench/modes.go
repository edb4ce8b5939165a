package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

func newWorkload(spec Spec, clients []*client) workload {
	b := base{spec: spec, clients: clients, encoding: jsonEncoding{}, scratch: make([]scratch, spec.Workers)}
	if spec.Protobuf {
		b.encoding = protobufEncoding{}
	}
	switch spec.Mode {
	case "echo":
		return &echo{base: b}
	case "renew":
		return &renew{rotation{leases: leases{base: b, namespace: "bench-" + strconv.Itoa(spec.Leases)}}}
	case "get":
		return &get{rotation{leases: leases{base: b, namespace: "bench-" + strconv.Itoa(spec.Leases)}}}
	case "list":
		return &list{leases: leases{base: b, namespace: "bench-" + strconv.Itoa(spec.Leases)}}
	case "watch":
		return &watch{renew: renew{rotation{leases: leases{base: b, namespace: "bench-watch-" + strconv.Itoa(spec.Leases)}}}}
	default:
		return &create{base: b}
	}
}

// base is what all modes have.
type base struct {
	spec     Spec
	clients  []*client
	encoding encoding
	scratch  []scratch // one for each worker
}

// scratch is memory that a worker uses again for each operation.
type scratch struct {
	body  []byte
	reply bytes.Buffer
	turn  int
	_     [64]byte
}

func (b *base) client(worker int) *client { return b.clients[worker%len(b.clients)] }

func (b *base) finish(context.Context) (*histogram, error) { return nil, nil }

// call prepares a worker's call in the measured encoding.
func (b *base) call(worker int, method, path string) *call {
	contentType := ""
	if method == http.MethodPut || method == http.MethodPost {
		contentType = b.encoding.contentType()
	}
	return b.client(worker).prepare(method, path, contentType, b.encoding.contentType())
}

// echo sends what a renewal would send to a server that sends it back.
type echo struct {
	base
	calls []*call
}

func (e *echo) prepare(context.Context) error {
	for worker := range e.spec.Workers {
		e.calls = append(e.calls, e.call(worker, http.MethodPut, (&leaseState{namespace: "bench", name: leaseName(worker)}).path()))
	}
	return nil
}

func (e *echo) operate(ctx context.Context, worker int, intended time.Time) error {
	s := &e.scratch[worker]
	state := leaseState{namespace: "bench", name: leaseName(worker), version: "1000000"}
	s.body = e.encoding.lease(s.body[:0], &state, intended)
	if err := e.calls[worker].send(ctx, s.body, &s.reply); err != nil {
		return err
	}
	_, err := e.encoding.version(s.reply.Bytes())
	return err
}

// leases are the Leases that a mode works on. They stay after the run and are used again by the next.
type leases struct {
	base
	namespace string
	states    []leaseState
}

func leaseName(i int) string { return fmt.Sprintf("lease-%06d", i) }

// prepare creates the Leases that are not there yet.
func (l *leases) prepare(ctx context.Context) error {
	var reply bytes.Buffer
	found := l.clients[0].prepare(http.MethodGet, collectionPath(l.namespace), "", "application/json")
	if err := found.send(ctx, nil, &reply); err != nil {
		return err
	}
	versions, err := decodeVersions(reply.Bytes())
	if err != nil {
		return err
	}
	l.states = make([]leaseState, l.spec.Leases)
	group, ctx := errgroup.WithContext(ctx)
	for part := range 32 {
		group.Go(func() error {
			var body []byte
			var reply bytes.Buffer
			post := l.call(part, http.MethodPost, collectionPath(l.namespace))
			for i := part; i < len(l.states); i += 32 {
				state := &l.states[i]
				*state = leaseState{namespace: l.namespace, name: leaseName(i), version: versions[leaseName(i)]}
				if state.version != "" {
					continue
				}
				body = l.encoding.lease(body[:0], state, time.Now())
				if err := post.send(ctx, body, &reply); err != nil {
					return fmt.Errorf("create %s: %w", state.name, err)
				}
				if state.version, err = l.encoding.version(reply.Bytes()); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// rotation is Leases that are taken in turn: each worker has every n-th of them for itself.
type rotation struct {
	leases
	calls []*call // one for each Lease
}

func (r *rotation) prepareCalls(ctx context.Context, method string) error {
	if err := r.leases.prepare(ctx); err != nil {
		return err
	}
	r.calls = make([]*call, len(r.states))
	for i := range r.states {
		r.calls[i] = r.call(i%r.spec.Workers, method, r.states[i].path())
	}
	return nil
}

// next returns which Lease it is a worker's turn to take.
func (r *rotation) next(worker int) int {
	s := &r.scratch[worker]
	i := worker + s.turn*r.spec.Workers
	if i >= len(r.states) {
		i, s.turn = worker, 0
	}
	s.turn++
	return i
}

// renew puts a new renewTime into each Lease in turn. A worker is the only writer of its Leases.
type renew struct{ rotation }

func (r *renew) prepare(ctx context.Context) error { return r.prepareCalls(ctx, http.MethodPut) }

func (r *renew) operate(ctx context.Context, worker int, intended time.Time) error {
	s := &r.scratch[worker]
	i := r.next(worker)
	state := &r.states[i]
	s.body = r.encoding.lease(s.body[:0], state, intended)
	err := r.calls[i].send(ctx, s.body, &s.reply)
	var status *statusError
	if errors.As(err, &status) && status.code == http.StatusConflict {
		// An earlier attempt's outcome was unknown and it was made. Read, as a holder would; the error counts.
		return errors.Join(err, r.reread(ctx, worker, state))
	}
	if err != nil {
		return err
	}
	state.version, err = r.encoding.version(s.reply.Bytes())
	return err
}

func (r *renew) reread(ctx context.Context, worker int, state *leaseState) error {
	s := &r.scratch[worker]
	err := r.call(worker, http.MethodGet, state.path()).send(ctx, nil, &s.reply)
	if err != nil {
		return err
	}
	state.version, err = r.encoding.version(s.reply.Bytes())
	return err
}

// get reads each Lease in turn.
type get struct{ rotation }

func (g *get) prepare(ctx context.Context) error { return g.prepareCalls(ctx, http.MethodGet) }

func (g *get) operate(ctx context.Context, worker int, _ time.Time) error {
	return g.calls[g.next(worker)].send(ctx, nil, &g.scratch[worker].reply)
}

// list reads all Leases at once.
type list struct {
	leases
	calls []*call
}

func (l *list) prepare(ctx context.Context) error {
	if err := l.leases.prepare(ctx); err != nil {
		return err
	}
	for worker := range l.spec.Workers {
		l.calls = append(l.calls, l.call(worker, http.MethodGet, collectionPath(l.namespace)))
	}
	return nil
}

func (l *list) operate(ctx context.Context, worker int, _ time.Time) error {
	return l.calls[worker].send(ctx, nil, &l.scratch[worker].reply)
}

// create makes Leases under new names, and removes them at the end.
type create struct {
	base
	namespace string
	calls     []*call
	next      atomic.Int64
}

func (c *create) prepare(context.Context) error {
	c.namespace = "bench-create-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	for worker := range c.spec.Workers {
		c.calls = append(c.calls, c.call(worker, http.MethodPost, collectionPath(c.namespace)))
	}
	return nil
}

func (c *create) operate(ctx context.Context, worker int, intended time.Time) error {
	s := &c.scratch[worker]
	state := leaseState{namespace: c.namespace, name: leaseName(int(c.next.Add(1)))}
	s.body = c.encoding.lease(s.body[:0], &state, intended)
	return c.calls[worker].send(ctx, s.body, &s.reply)
}

// finish deletes what was created. A large collection may not go within one request's time; then it takes several, for
// as long as each removes something.
func (c *create) finish(ctx context.Context) (*histogram, error) {
	remove := c.client(0).prepare(http.MethodDelete, collectionPath(c.namespace), "", "application/json")
	list := c.client(0).prepare(http.MethodGet, collectionPath(c.namespace), "", "application/json")
	var reply bytes.Buffer
	last := -1
	for {
		failure := remove.send(ctx, nil, &reply)
		if failure == nil {
			return nil, nil
		}
		if err := list.send(ctx, nil, &reply); err != nil {
			return nil, err
		}
		left, err := decodeVersions(reply.Bytes())
		if err != nil || len(left) == 0 {
			return nil, err
		}
		if len(left) == last {
			return nil, fmt.Errorf("remove what was created: %w", failure)
		}
		last = len(left)
	}
}
