package sim

import (
	"bytes"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/httpapi/discovery"
	"github.com/leasehold/leasehold/jepsen/check"
	"github.com/leasehold/leasehold/jepsen/nemesis"
)

// calmPlan is a plan of a few minutes that a sound cluster passes.
func calmPlan(t *testing.T) plan {
	documents, err := discovery.New("simulated", discovery.Served()...)
	require.NoError(t, err)
	p := newPlan(3, Options{Hours: 1, Nodes: 3, Bubble: 3 * time.Minute, Rate: 4}.withDefaults(), documents)
	p.workloads, p.kinds, p.pairs = []string{"register"}, []string{"partition-one"}, nil
	p.settings.electionTimeout = time.Second
	return p
}

func (p plan) verdict(t *testing.T) check.Report {
	o, err := simulate(t, t.Context(), p)
	require.NoError(t, err)
	return p.judge(o)
}

func TestASoundClusterPasses(t *testing.T) {
	report := calmPlan(t).verdict(t)
	assert.Equal(t, check.Pass, report.Verdict, report.Sentence)
}

// stale answers what it answered before to the same question, for some time.
type stale struct {
	next http.RoundTripper

	mu    sync.Mutex // guards known
	known map[string]*kept
}

type kept struct {
	response http.Response
	body     []byte
	until    time.Time
}

func (s *stale) RoundTrip(r *http.Request) (*http.Response, error) {
	url := r.URL.String()
	if r.Method != http.MethodGet || r.URL.Query().Has("watch") {
		return s.next.RoundTrip(r)
	}
	s.mu.Lock()
	known := s.known[url]
	s.mu.Unlock()
	if known == nil || time.Now().After(known.until) {
		response, err := s.next.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			return nil, err
		}
		known = &kept{*response, body, time.Now().Add(5 * time.Second)}
		s.mu.Lock()
		s.known[url] = known
		s.mu.Unlock()
	}
	response := known.response
	response.Body = io.NopCloser(bytes.NewReader(known.body))
	return &response, nil
}

func TestOldAnswersAreFound(t *testing.T) {
	p := calmPlan(t)
	p.tamper = func(_ string, next http.RoundTripper) http.RoundTripper {
		return &stale{next: next, known: make(map[string]*kept)}
	}
	report := p.verdict(t)
	assert.Equal(t, check.Broken, report.Verdict, report.Sentence)
}

func TestLostEntriesAreFound(t *testing.T) {
	p := calmPlan(t)
	p.meddle = func(bed *testbed) {
		time.Sleep(time.Minute)
		_ = bed.Kill(bed.nodes...)
		_ = bed.each(bed.nodes, func(p *place) {
			c := &p.disk.content
			for last := c.last; c.last > c.first && c.last+10 > last; {
				delete(c.logs, c.last)
				c.bounds()
			}
		})
		for _, node := range bed.nodes {
			_ = bed.Start(bed.ctx, node, nemesis.Life{})
		}
	}
	report := p.verdict(t)
	assert.Equal(t, check.Broken, report.Verdict, report.Sentence)
}
