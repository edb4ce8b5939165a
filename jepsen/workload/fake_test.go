package workload_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/leasehold/leasehold/jepsen/history"
)

// fake is a Lease API in memory, good enough for what workloads do.
type fake struct {
	mu       sync.Mutex
	revision uint64
	objects  map[string]lease
	events   []fakeEvent
	moved    chan struct{}
	// fault, if set, answers in place of the server. It may serve the request by itself before.
	fault func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) bool
}

type fakeEvent struct {
	revision     uint64
	kind         string
	object, past lease
}

// lease is an object as JSON has it, never changed once it is stored.
type lease map[string]any

func newFake() *fake {
	return &fake{revision: 1000, objects: make(map[string]lease), moved: make(chan struct{})}
}

func (l lease) meta() map[string]any {
	m, ok := l["metadata"].(map[string]any)
	if !ok {
		m = map[string]any{}
		l["metadata"] = m
	}
	return m
}

func (l lease) text(field string) string { s, _ := l.meta()[field].(string); return s }

func (l lease) clone() lease {
	var next lease
	raw, _ := json.Marshal(l)
	_ = json.Unmarshal(raw, &next)
	return next
}

func (l lease) group() string {
	labels, _ := l.meta()["labels"].(map[string]any)
	s, _ := labels[history.GroupLabel].(string)
	return s
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f.fault != nil && f.fault(w, r, f.serve) {
		return
	}
	f.serve(w, r)
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	path := strings.Split(strings.TrimPrefix(r.URL.Path, "/apis/coordination.k8s.io/v1"), "/")
	if strings.HasPrefix(r.URL.Path, "/api/v1/namespaces/") {
		answer(w, 200, map[string]any{"kind": "Namespace"})
		return
	}
	namespace, name := "", ""
	if len(path) > 3 {
		namespace = path[2]
	}
	if len(path) > 4 {
		name = path[4]
	}
	body, _ := io.ReadAll(r.Body)
	switch {
	case r.Method == "GET" && r.URL.Query().Get("watch") == "true":
		f.watch(w, r, namespace)
	case r.Method == "GET" && name == "":
		f.list(w, r, namespace)
	default:
		f.mu.Lock()
		defer f.mu.Unlock()
		f.object(w, r, namespace, name, body)
	}
}

func (f *fake) object(w http.ResponseWriter, r *http.Request, namespace, name string, body []byte) {
	var sent lease
	_ = json.Unmarshal(body, &sent)
	if r.Method == "POST" {
		name = sent.text("name")
		if name == "" {
			name = fmt.Sprint(sent.text("generateName"), f.revision)
		}
	}
	key := namespace + "/" + name
	current, exists := f.objects[key]
	switch {
	case r.Method == "POST" && exists:
		refuse(w, 409, "AlreadyExists")
	case r.Method == "POST":
		f.store(w, 201, key, sent, nil)
	case r.Method == "PUT" && !exists && sent.text("resourceVersion") == "":
		f.store(w, 201, key, sent, nil)
	case !exists:
		refuse(w, 404, "NotFound")
	case r.Method == "GET":
		answer(w, 200, current)
	case r.Method == "PUT" && sent.text("resourceVersion") == "":
		refuse(w, 422, "Invalid")
	case r.Method == "PUT":
		f.swap(w, key, current, sent)
	case r.Method == "PATCH":
		raw, _ := json.Marshal(current)
		raw, err := apply(r.Header.Get("Content-Type"), raw, body)
		if err != nil {
			refuse(w, 422, "Invalid")
			return
		}
		var next lease
		_ = json.Unmarshal(raw, &next)
		f.swap(w, key, current, next)
	case r.Method == "DELETE":
		conditions, _ := sent["preconditions"].(map[string]any)
		for _, field := range []string{"uid", "resourceVersion"} {
			if wanted, ok := conditions[field]; ok && wanted != current.text(field) {
				refuse(w, 409, "Conflict")
				return
			}
		}
		f.revision++
		gone := current.clone()
		gone.meta()["resourceVersion"] = fmt.Sprint(f.revision)
		delete(f.objects, key)
		f.tell(fakeEvent{f.revision, "DELETED", gone, current})
		answer(w, 200, map[string]any{"kind": "Status", "status": "Success", "details": map[string]any{"uid": current.text("uid")}})
	}
}

func apply(media string, current, patch []byte) ([]byte, error) {
	if strings.Contains(media, "merge") {
		return jsonpatch.MergePatch(current, patch)
	}
	steps, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, err
	}
	return steps.Apply(current)
}

func (f *fake) swap(w http.ResponseWriter, key string, current, next lease) {
	if next.text("resourceVersion") != current.text("resourceVersion") || next.text("uid") != "" && next.text("uid") != current.text("uid") {
		refuse(w, 409, "Conflict")
		return
	}
	f.store(w, 200, key, next, current)
}

func (f *fake) store(w http.ResponseWriter, code int, key string, next, past lease) {
	next = next.clone()
	next["kind"], next["apiVersion"] = "Lease", "coordination.k8s.io/v1"
	next.meta()["namespace"], next.meta()["name"], _ = strings.Cut(key, "/")
	kind := "ADDED"
	if past != nil {
		kind = "MODIFIED"
		next.meta()["uid"], next.meta()["creationTimestamp"] = past.text("uid"), past.text("creationTimestamp")
		if fmt.Sprint(next) == fmt.Sprint(past) {
			answer(w, code, past)
			return
		}
	} else {
		next.meta()["uid"] = fmt.Sprint("uid-", f.revision)
		next.meta()["creationTimestamp"] = time.Now().UTC().Format(time.RFC3339)
	}
	f.revision++
	next.meta()["resourceVersion"] = fmt.Sprint(f.revision)
	f.objects[key] = next
	f.tell(fakeEvent{f.revision, kind, next, past})
	answer(w, code, next)
}

// tell is called with mu held.
func (f *fake) tell(e fakeEvent) {
	f.events = append(f.events, e)
	close(f.moved)
	f.moved = make(chan struct{})
}

func selected(r *http.Request, namespace string, l lease) bool {
	q := r.URL.Query()
	return l != nil && (namespace == "" || l.text("namespace") == namespace) &&
		(q.Get("labelSelector") == "" || q.Get("labelSelector") == "group="+l.group()) &&
		(q.Get("fieldSelector") == "" || q.Get("fieldSelector") == "metadata.name="+l.text("name"))
}

// at is the state at a revision, in the order of keys.
func (f *fake) at(revision uint64) []lease {
	state := make(map[string]lease)
	for _, e := range f.events {
		if e.revision > revision {
			break
		}
		key := e.object.text("namespace") + "/" + e.object.text("name")
		state[key] = e.object
		if e.kind == "DELETED" {
			delete(state, key)
		}
	}
	var all []lease
	for _, key := range slices.Sorted(maps.Keys(state)) {
		all = append(all, state[key])
	}
	return all
}

func (f *fake) list(w http.ResponseWriter, r *http.Request, namespace string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	q := r.URL.Query()
	revision, from := f.revision, 0
	if asked, _ := strconv.ParseUint(q.Get("resourceVersion"), 10, 64); asked > f.revision {
		refuse(w, 504, "Timeout")
		return
	} else if asked > 0 && q.Get("resourceVersionMatch") == "Exact" {
		revision = asked
	}
	if token := q.Get("continue"); token != "" {
		_, _ = fmt.Sscanf(token, "%d-%d", &revision, &from)
	}
	items := []lease{}
	for _, l := range f.at(revision) {
		if selected(r, namespace, l) {
			items = append(items, l)
		}
	}
	items = items[min(from, len(items)):]
	token := ""
	if limit, _ := strconv.Atoi(q.Get("limit")); limit > 0 && limit < len(items) {
		items, token = items[:limit], fmt.Sprintf("%d-%d", revision, from+limit)
	}
	answer(w, 200, map[string]any{"kind": "LeaseList", "metadata": map[string]any{"resourceVersion": fmt.Sprint(revision), "continue": token}, "items": items})
}

func (f *fake) watch(w http.ResponseWriter, r *http.Request, namespace string) {
	q := r.URL.Query()
	from, _ := strconv.ParseUint(q.Get("resourceVersion"), 10, 64)
	seconds, _ := strconv.Atoi(q.Get("timeoutSeconds"))
	end := time.NewTimer(time.Duration(max(1, seconds)) * time.Second)
	defer end.Stop()
	out := json.NewEncoder(w)
	flush := func() {
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
	}
	send := func(kind string, l any) {
		_ = out.Encode(map[string]any{"type": kind, "object": l})
		flush()
	}
	bookmark := func(revision uint64, annotations map[string]any) {
		send("BOOKMARK", lease{"kind": "Lease", "metadata": map[string]any{"resourceVersion": fmt.Sprint(revision), "annotations": annotations}})
	}
	f.mu.Lock()
	next, first := 0, f.revision
	start := f.at(first)
	f.mu.Unlock()
	w.WriteHeader(200)
	flush()
	if from == 0 {
		from = first
		for _, l := range start {
			if selected(r, namespace, l) {
				send("ADDED", l)
			}
		}
		if q.Get("sendInitialEvents") == "true" {
			bookmark(first, map[string]any{"k8s.io/initial-events-end": "true"})
		}
	}
	for {
		f.mu.Lock()
		events, moved, revision := f.events[next:], f.moved, f.revision
		next = len(f.events)
		f.mu.Unlock()
		for _, e := range events {
			is, was := selected(r, namespace, e.object) && e.kind != "DELETED", selected(r, namespace, e.past)
			switch {
			case e.revision <= from || !is && !was:
			case is && was:
				send("MODIFIED", e.object)
			case is:
				send("ADDED", e.object)
			default:
				send("DELETED", e.object)
			}
		}
		select {
		case <-moved:
		case <-end.C:
			if q.Get("allowWatchBookmarks") == "true" && revision >= from {
				bookmark(revision, nil)
			}
			return
		case <-r.Context().Done():
			return
		}
	}
}

func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}

func refuse(w http.ResponseWriter, code int, reason string) {
	answer(w, code, map[string]any{"kind": "Status", "reason": reason, "code": code})
}

// direct is a transport that calls a handler, which works in a bubble of testing/synctest.
type direct struct{ http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r = r.Clone(r.Context())
		r.Body = http.NoBody
	}
	read, write := io.Pipe()
	out := &pipeWriter{header: make(http.Header), body: write, began: make(chan struct{})}
	go func() {
		d.ServeHTTP(out, r)
		out.WriteHeader(200)
		write.Close()
	}()
	select {
	case <-out.began:
		return &http.Response{StatusCode: out.code, Header: out.header, Body: read, Request: r}, nil
	case <-r.Context().Done():
		read.Close()
		return nil, r.Context().Err()
	}
}

type pipeWriter struct {
	header http.Header
	body   *io.PipeWriter
	code   int
	once   sync.Once
	began  chan struct{}
}

func (p *pipeWriter) Header() http.Header { return p.header }

func (p *pipeWriter) WriteHeader(code int) {
	p.once.Do(func() { p.code = code; close(p.began) })
}

func (p *pipeWriter) Write(b []byte) (int, error) {
	p.WriteHeader(200)
	return p.body.Write(b)
}

// discarding is a pipe whose other end reads all and keeps nothing.
func discarding() *io.PipeWriter {
	read, write := io.Pipe()
	read.Close() // writes fail at once, which no handler of the fake minds
	return write
}

// copied reads a request's body, leaves it to be read, and returns what makes it anew.
func copied(r *http.Request) func() io.ReadCloser {
	raw, _ := io.ReadAll(r.Body)
	again := func() io.ReadCloser { return io.NopCloser(bytes.NewReader(raw)) }
	r.Body = again()
	return again
}

// named is the name of the object in a request's body.
func named(r *http.Request) string {
	var sent lease
	raw, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(raw, &sent)
	return sent.text("name")
}

// silenceAfter answers no write between two times after began.
func silenceAfter(began time.Time, from, to time.Duration) func(http.ResponseWriter, *http.Request, http.HandlerFunc) bool {
	return func(_ http.ResponseWriter, r *http.Request, _ http.HandlerFunc) bool {
		if past := time.Since(began); r.Method == "GET" || past < from || past > to {
			return false
		}
		<-r.Context().Done()
		return true
	}
}
