package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// condition is what is known of a node.
type condition int

const (
	dead     condition = iota // does not answer; the first condition of every node
	draining                  // answers that it is not ready
	ready
)

func (c condition) String() string { return [...]string{"not answering", "not ready", "ready"}[c] }

// backend is one node.
type backend struct {
	address string
	client  *http.Client

	mu        sync.Mutex          // guards what follows
	condition condition           // written under backends.mu too, so that either lock allows reading
	open      map[net.Conn]func() // to the node; the function cuts it
	drain     *time.Timer         // cuts what is open; set while draining
}

// backends is the set of nodes and the choice among them.
type backends struct {
	config Config
	all    []*backend

	mu      sync.Mutex    // guards what follows; taken before a backend's
	next    int           // where the search for the least used node begins
	changed chan struct{} // closed when some node becomes ready
}

func newBackends(config Config) *backends {
	s := &backends{config: config, changed: make(chan struct{})}
	for _, address := range config.Backends {
		s.all = append(s.all, &backend{
			address: address,
			open:    map[net.Conn]func(){},
			client: &http.Client{
				Timeout:   config.Timeout,
				Transport: &http.Transport{TLSClientConfig: config.TLS.Clone(), MaxIdleConns: 1},
			},
		})
	}
	return s
}

// pick returns the ready node with the fewest connections, in turn among equals; or nil and a channel that is closed
// when one becomes ready.
func (s *backends) pick() (*backend, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var best *backend
	fewest := 0
	for i := range s.all {
		b := s.all[(s.next+i)%len(s.all)]
		b.mu.Lock()
		if b.condition == ready && (best == nil || len(b.open) < fewest) {
			best, fewest = b, len(b.open)
		}
		b.mu.Unlock()
	}
	s.next++
	return best, s.changed
}

// watch asks a node for its health until ctx ends.
func (s *backends) watch(ctx context.Context, b *backend) {
	defer b.client.CloseIdleConnections()
	silent := 0
	for ctx.Err() == nil {
		found, why := b.ask(ctx)
		if found == dead && why == silence {
			silent++
		} else {
			silent = 0
		}
		// One answer that is late may be the fault of a busy machine, and cutting connections makes it busier.
		if silent != 1 && ctx.Err() == nil {
			s.report(b, found, why)
		}
		pause(ctx, s.config.Interval)
	}
	b.cut()
}

// silence is why a node that did not answer in time is dead.
const silence = "no answer in time"

// ask asks /readyz once.
func (b *backend) ask(ctx context.Context) (condition, string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+b.address+"/readyz", nil)
	if err != nil {
		return dead, err.Error()
	}
	response, err := b.client.Do(request)
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) {
		return dead, silence
	}
	if err != nil {
		return dead, err.Error()
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(response.Body, 512)) // only for the log
	if response.StatusCode != http.StatusOK {
		return draining, fmt.Sprintf("%s: %s", response.Status, body)
	}
	return ready, ""
}

// report records what was found of a node and acts on a change.
func (s *backends) report(b *backend, found condition, why string) {
	s.mu.Lock()
	b.mu.Lock()
	was := b.condition
	b.condition = found
	if was != found {
		if b.drain != nil {
			b.drain.Stop()
			b.drain = nil
		}
		switch found {
		case ready:
			close(s.changed)
			s.changed = make(chan struct{})
		case draining:
			b.drain = time.AfterFunc(s.config.Drain, b.cut)
		}
	}
	b.mu.Unlock()
	s.mu.Unlock()

	if was == found {
		return
	}
	s.config.Logger.Info("backend is "+found.String(), "backend", b.address, "why", why)
	if found == dead {
		b.cut()
	}
}

// cut ends every connection to a node that is not ready.
func (b *backend) cut() {
	b.mu.Lock()
	var cuts []func()
	if b.condition != ready {
		for _, cut := range b.open {
			cuts = append(cuts, cut)
		}
	}
	b.mu.Unlock()
	for _, cut := range cuts {
		cut()
	}
}

// hold notes an open connection to the node, unless the node died while it was being made.
func (b *backend) hold(node net.Conn, cut func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.condition == dead {
		return false
	}
	b.open[node] = cut
	return true
}

func (b *backend) release(node net.Conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.open, node)
}
