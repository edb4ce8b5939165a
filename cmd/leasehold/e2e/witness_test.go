package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// event is one line of a watch.
type event struct {
	kind     string
	revision uint64
	lease    string
	attempt  string
	count    int64
}

// witness is one client that watches all Leases and writes down every event. When its watch ends it starts another from
// the last version it was told, at the next of its nodes.
type witness struct {
	c     *cluster
	nodes []int
	base  uint64 // the version it began from

	mu      sync.Mutex // guards what follows
	cursor  uint64
	events  []event
	fault   string   // what a watch must never say; it goes no further
	resumed []string // one line for each watch after the first: where, and why
}

// witness starts witnesses from a revision, one for each list of nodes, until the end of the test.
func (c *cluster) witness(from uint64, nodes ...[]int) []*witness {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	c.t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	var all []*witness
	for _, where := range nodes {
		r := &witness{c: c, nodes: where, base: from, cursor: from}
		client := c.client()
		client.Timeout = 0
		all = append(all, r)
		running.Go(func() {
			defer client.CloseIdleConnections()
			r.run(ctx, client, c.file("admin.token"))
		})
	}
	return all
}

func (r *witness) run(ctx context.Context, client *http.Client, token string) {
	for turn := 0; ctx.Err() == nil; turn++ {
		node := r.nodes[turn%len(r.nodes)]
		served, err := r.watch(ctx, client, token, node)
		if r.state().fault != "" {
			return
		}
		if served {
			r.mu.Lock()
			r.resumed = append(r.resumed, fmt.Sprintf("node-%d at %d: %v", node, r.cursor, err))
			r.mu.Unlock()
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// watch runs one watch to its end, and reports whether the server took it.
func (r *witness) watch(ctx context.Context, client *http.Client, token string, node int) (served bool, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf(
		"%s/apis/coordination.k8s.io/v1/leases?watch=true&allowWatchBookmarks=true&resourceVersion=%d", r.c.url(node), r.state().cursor), nil)
	if err != nil {
		return false, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := client.Do(request)
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusServiceUnavailable, http.StatusTooManyRequests: // not ready yet
		return false, nil
	default:
		body, _ := io.ReadAll(response.Body)
		r.refuse("node-%d answered %d: %s", node, response.StatusCode, body)
		return false, nil
	}
	lines := json.NewDecoder(response.Body)
	for {
		var line struct {
			Type   string          `json:"type"`
			Object json.RawMessage `json:"object"`
		}
		if err := lines.Decode(&line); err != nil {
			return true, err
		}
		if !r.note(node, line.Type, line.Object) {
			return true, nil
		}
	}
}

// note writes one line down.
func (r *witness) note(node int, kind string, object []byte) bool {
	var version leaseVersion
	err := json.Unmarshal(object, &version)
	revision, notNumber := strconv.ParseUint(version.Metadata.Revision, 10, 64)
	if kind == "ERROR" || err != nil || notNumber != nil {
		r.refuse("node-%d told %s: %s", node, kind, object)
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cursor = revision
	if kind != "BOOKMARK" {
		r.events = append(r.events, event{kind, revision, version.Metadata.Name, version.Spec.Holder, version.Spec.Count})
	}
	return true
}

func (r *witness) refuse(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fault = fmt.Sprintf(format, args...)
}

// testimony is a witness's state at one time.
type testimony struct {
	cursor  uint64
	events  []event
	fault   string
	resumed []string
}

func (r *witness) state() testimony {
	r.mu.Lock()
	defer r.mu.Unlock()
	return testimony{r.cursor, r.events[:len(r.events):len(r.events)], r.fault, r.resumed[:len(r.resumed):len(r.resumed)]}
}

// upTo returns everything told once that reaches a revision.
func (r *witness) upTo(revision uint64) testimony {
	r.c.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		s := r.state()
		if s.fault != "" || s.cursor >= revision || time.Now().After(deadline) {
			return s
		}
		time.Sleep(20 * time.Millisecond)
	}
}
