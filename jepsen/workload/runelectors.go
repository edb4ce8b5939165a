package workload

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/leasehold/leasehold/jepsen/history"
)

// RunElectors is the whole work of a process of electors: it reads an ElectorTask from in, contends for its leases with
// client-go's electors, and writes an ElectorLine whenever one begins or stops to believe that it leads, until in or ctx ends.
func RunElectors(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	reader := bufio.NewReader(in)
	description, err := reader.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("read the task of electors: %w", err)
	}
	var task ElectorTask
	if err := json.Unmarshal(description, &task); err != nil {
		return fmt.Errorf("read the task of electors: %w", err)
	}
	if len(task.URLs) == 0 {
		return errors.New("the task of electors names no URLs")
	}
	// Nothing waits for this reader: it ends with the process at the latest.
	go func() {
		_, _ = io.Copy(io.Discard, reader)
		cancel()
	}()
	leases, err := leaseClient(task)
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	lines := &lineWriter{out: json.NewEncoder(out)}
	for n, lease := range task.Leases {
		e := &elector{task: task, lease: lease, name: task.Name + "/" + lease[strings.Index(lease, "/")+1:], leases: leases, lines: lines,
			rng: rand.New(rand.NewPCG(task.Seed, uint64(n)))}
		all.Go(func() { e.run(ctx) })
	}
	all.Wait()
	return nil
}

// leaseClient is client-go's, without its limit on the rate, and with a transport that goes to the next node when one
// does not answer.
func leaseClient(task ElectorTask) (*coordination.CoordinationV1Client, error) {
	config := &rest.Config{Host: task.URLs[0], BearerToken: task.Token, Timeout: task.Timeout, QPS: -1, UserAgent: "jepsen-elector"}
	config.ContentType = task.Encoding
	config.CAData, config.Insecure = []byte(task.CA), task.Insecure
	if task.Insecure {
		config.CAData = nil // client-go takes no authority and no care at once
	}
	nodes := &turning{}
	for _, node := range task.URLs {
		u, err := url.Parse(node)
		if err != nil {
			return nil, fmt.Errorf("electors: %w", err)
		}
		nodes.urls = append(nodes.urls, u)
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		nodes.next = next
		return nodes
	})
	return coordination.NewForConfig(config)
}

// turning is a transport that stays with a node until that fails.
type turning struct {
	urls []*url.URL
	next http.RoundTripper
	turn atomic.Int64
}

func (t *turning) RoundTrip(request *http.Request) (*http.Response, error) {
	turn := t.turn.Load()
	node := t.urls[int(turn)%len(t.urls)]
	request = request.Clone(request.Context())
	request.URL.Scheme, request.URL.Host, request.Host = node.Scheme, node.Host, node.Host
	response, err := t.next.RoundTrip(request)
	if err != nil || response.StatusCode/100 == 5 {
		t.turn.CompareAndSwap(turn, turn+1)
	}
	return response, err
}

// elector contends for one lease.
type elector struct {
	task   ElectorTask
	lease  string
	name   string
	leases *coordination.CoordinationV1Client
	lines  *lineWriter
	rng    *rand.Rand
}

// run contends again and again. Who leads resigns after a time, and lets others.
func (e *elector) run(ctx context.Context) {
	for ctx.Err() == nil {
		if !e.once(ctx) {
			continue
		}
		sleep(ctx, e.task.LeaseDuration+e.task.RetryPeriod)
	}
}

// once contends until it has led and leads no more, and says whether it did so of its own will.
func (e *elector) once(ctx context.Context) (resigned bool) {
	tenure, cancel := context.WithCancel(ctx)
	defer cancel()
	namespace, name, _ := strings.Cut(e.lease, "/")
	belief := &belief{elector: e}
	var resign *time.Timer
	term := time.Duration(15+e.rng.IntN(60)) * time.Second
	config := leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{LeaseMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Client: e.leases,
			LockConfig: resourcelock.ResourceLockConfig{Identity: e.name}},
		LeaseDuration: e.task.LeaseDuration, RenewDeadline: e.task.RenewDeadline, RetryPeriod: e.task.RetryPeriod,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(leading context.Context) { belief.begin(leading) },
			OnStoppedLeading: belief.end,
		},
	}
	le, err := leaderelection.NewLeaderElector(config)
	if err != nil {
		panic(err) // the timing is the harness's own
	}
	resign = time.AfterFunc(term, cancel)
	defer resign.Stop()
	le.Run(tenure)
	return tenure.Err() != nil && belief.led()
}

// belief is whether an elector believes that it leads. client-go tells the beginning from a goroutine of its own, so the
// end may be told first.
type belief struct {
	elector *elector
	mu      sync.Mutex // guards what follows
	began   bool
	ended   bool
}

func (b *belief) begin(context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.ended {
		b.began = true
		b.elector.lines.write(b.elector, history.Lead)
	}
}

func (b *belief) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	if b.began {
		b.elector.lines.write(b.elector, history.Yield)
	}
}

func (b *belief) led() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.began
}

// lineWriter writes lines, one at a time.
type lineWriter struct {
	mu  sync.Mutex // guards out
	out *json.Encoder
}

func (l *lineWriter) write(e *elector, what history.Type) {
	l.mu.Lock()
	defer l.mu.Unlock()
	clock, err := monotonic()
	if err == nil {
		err = l.out.Encode(ElectorLine{Elector: e.name, Lease: e.lease, Type: what, Clock: clock})
	}
	if err != nil {
		panic(fmt.Sprintf("electors cannot tell what they believe: %v", err)) // better no elector than one nobody hears of
	}
}
