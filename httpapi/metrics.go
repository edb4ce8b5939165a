package httpapi

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics counts and times requests under the names that kube-apiserver uses, so that its dashboards work here.
type metrics struct {
	handler  http.Handler
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	size     *prometheus.HistogramVec

	// series holds the metrics of each labels value that has been seen: looking one up in a vector by eight labels
	// costs more than all of routing.
	series sync.Map // labels to *series
}

// labels tell requests apart. All values are from closed sets, so that no client can make the series many.
type labels struct {
	verb, group, version, resource, subresource, scope, dryRun string
	code                                                       int
}

type series struct {
	requests prometheus.Counter
	duration prometheus.Observer
	size     prometheus.Observer
}

// newMetrics registers the door's metrics, and those of the process and of Go where nobody has yet.
func newMetrics(registry *prometheus.Registry, l *limits) (*metrics, error) {
	names := []string{"verb", "group", "version", "resource", "subresource", "scope", "component"}
	m := &metrics{
		handler: promhttp.HandlerFor(registry, promhttp.HandlerOpts{}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_request_total",
			Help: "Requests by verb, dry run value, group, version, resource, scope, component and HTTP response code.",
		}, append([]string{"code", "dry_run"}, names...)),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "apiserver_request_duration_seconds",
			Help:    "Time from a request's arrival to the last byte of its answer, in seconds; watches are left out.",
			Buckets: []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10},
		}, append([]string{"dry_run"}, names...)),
		size: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "apiserver_response_sizes",
			Help:    "Size of answers in bytes.",
			Buckets: prometheus.ExponentialBuckets(1000, 10, 7),
		}, names),
	}
	inFlight := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "apiserver_current_inflight_requests", Help: "Requests being answered, watches left out.",
	}, func() float64 { return float64(l.inFlight.Load()) })
	watches := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "apiserver_longrunning_requests", Help: "Watches that are open.",
	}, func() float64 { return float64(l.watches.Load()) })
	for _, collector := range []prometheus.Collector{m.requests, m.duration, m.size, inFlight, watches} {
		if err := registry.Register(collector); err != nil {
			return nil, err
		}
	}
	for _, collector := range []prometheus.Collector{
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	} {
		if err := registry.Register(collector); err != nil && !isRegistered(err) {
			return nil, err
		}
	}
	return m, nil
}

func isRegistered(err error) bool {
	_, registered := err.(prometheus.AlreadyRegisteredError)
	return registered
}

// observe counts a request once it has been answered.
func (s *server) observe(q *request, w *writer) {
	elapsed := time.Since(q.arrived)
	if s.logger.IsDebug() {
		s.logger.Debug("answered", "method", q.http.Method, "path", q.http.URL.Path, "code", w.code, "took", elapsed)
	}
	one := s.metrics.of(q, w.code)
	one.requests.Inc()
	if q.verb != "watch" {
		one.duration.Observe(elapsed.Seconds())
		one.size.Observe(float64(w.size))
	}
}

func (m *metrics) of(q *request, code int) *series {
	key := labels{code: code, verb: "other"}
	// Outside of resources only GET and HEAD mean anything, though discovery answers whatever it is called.
	if q.known && (q.key.Resource != "" || q.http.Method == http.MethodGet || q.http.Method == http.MethodHead) {
		key.verb = q.verb
		if q.verb == "patch" && q.isApply() {
			key.verb = "apply"
		}
	}
	if q.known && q.key.Resource != "" {
		key.group, key.version, key.resource = q.group, q.version, q.key.Resource
		key.scope = q.scope()
		if len(q.query["dryRun"]) > 0 {
			key.dryRun = "All"
		}
	}
	if kept, ok := m.series.Load(key); ok {
		return kept.(*series)
	}
	verb := metricVerb(key.verb)
	rest := []string{verb, key.group, key.version, key.resource, key.subresource, key.scope, "apiserver"}
	made := &series{
		requests: m.requests.WithLabelValues(append([]string{strconv.Itoa(code), key.dryRun}, rest...)...),
		duration: m.duration.WithLabelValues(append([]string{key.dryRun}, rest...)...),
		size:     m.size.WithLabelValues(rest...),
	}
	kept, _ := m.series.LoadOrStore(key, made)
	return kept.(*series)
}

// scope is how much of a resource a request is about.
func (q *request) scope() string {
	switch {
	case q.key.Name != "":
		return "resource"
	case q.key.Namespace != "":
		return "namespace"
	}
	return "cluster"
}

// metricVerb is what kube-apiserver calls a verb in its metrics.
func metricVerb(verb string) string {
	switch verb {
	case "create":
		return "POST"
	case "update":
		return "PUT"
	}
	return strings.ToUpper(verb)
}

// serveMetrics answers all that is registered.
func (s *server) serveMetrics(q *request) (*response, error) {
	return &response{code: http.StatusOK, stream: func(w http.ResponseWriter) { s.metrics.handler.ServeHTTP(w, q.http) }}, nil
}
