package conformance

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
)

// stage is a server that says what it is told to say.
type stage struct {
	// replies are by method and what follows the collection's path, as in "GET /a?watch=true".
	replies map[string]reply

	refusals   atomic.Int64 // how many requests are refused first
	refusal    int          // with this code
	retryAfter string
}

// reply is one answer. NS in its texts stands for the case's namespace.
type reply struct {
	status int
	header map[string]string
	body   string
	events []string // of a watch
	late   string   // one more event, when the others have long been read
	stays  bool     // the watch ends when the client goes
	breaks bool     // the connection is cut at the end
}

const (
	firstUID  = "11111111-1111-1111-1111-111111111111"
	secondUID = "22222222-2222-2222-2222-222222222222"
)

// lease is a Lease as the stage tells of it.
func lease(name, uid, version, more string) string {
	return fmt.Sprintf(`{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":%q,"namespace":"NS","uid":%q,`+
		`"resourceVersion":%q,"creationTimestamp":"2026-01-02T03:04:05Z"},"spec":{%s}}`, name, uid, version, more)
}

func event(kind, object string) string {
	return fmt.Sprintf(`{"type":%q,"object":%s}`, kind, object)
}

// story is a conversation that needs every sort of comparison.
const story = `
- name: write
  steps:
  - {id: c, do: POST $(leases), lease: {metadata: {name: a}}}
  - {do: PUT $(leases)/a, lease: {metadata: {name: a, resourceVersion: $(c.metadata.resourceVersion)}}}
- name: refused
  steps:
  - {do: DELETE $(leases)/none}
- name: pages
  steps:
  - {do: GET $(leases)/a, record: status}
  - {do: "GET $(leases)?limit=2"}
- name: table
  steps:
  - {do: GET $(leases), accept: table}
- name: picked
  steps:
  - {do: "GET $(leases)?picked", pick: ["items[metadata.name=b].spec.holderIdentity"]}
- name: generated
  generated: [gen-]
  steps:
  - {do: "POST $(leases)?generate", lease: {metadata: {generateName: gen-}}}
- name: managers
  steps:
  - {do: GET $(leases)/managed}
- name: conflicts
  steps:
  - {do: PATCH $(leases)/a, type: apply, lease: {metadata: {name: a}}}
- name: race
  steps:
  - {do: "POST $(leases)?race", parallel: 2, lease: {metadata: {name: a}}}
- name: encodings
  steps:
  - {do: GET $(leases)/yaml, accept: yaml}
  - {do: GET $(leases)/text}
- name: watch
  steps:
  - {id: w, watch: "$(leases)?watch=live"}
  - {collect: w, events: 2}
- name: watch-to-the-end
  steps:
  - {id: w, watch: "$(leases)?watch=short"}
  - {collect: w}
- name: initial-events
  steps:
  - {id: w, watch: "$(leases)?watch=initial"}
  - {collect: w, events: 2, bookmarks: initial}
- name: bookmarks
  steps:
  - {id: w, watch: "$(leases)?watch=bookmarks"}
  - {collect: w, bookmarks: some}
- name: watch-refused
  steps:
  - {id: w, watch: "$(leases)?watch=refused"}
  - {collect: w}
- name: socket
  steps:
  - {id: w, webSocket: "$(leases)?watch=socket"}
  - {collect: w}
`

// honest is the stage that says what was recorded.
func honest() *stage {
	const initialEvents = `{"kind":"Lease","metadata":{"resourceVersion":"101","annotations":{"k8s.io/initial-events-end":"true"}},"spec":{}}`
	a, b := lease("a", firstUID, "100", `"leaseDurationSeconds":15`), lease("b", secondUID, "101", `"holderIdentity":"x"`)
	return &stage{replies: map[string]reply{
		"POST": {status: 201, body: a, header: map[string]string{"Audit-Id": "some", "Cache-Control": "no-cache"}},
		"PUT /a": {body: lease("a", firstUID, "101", `"leaseDurationSeconds":15,"preferredHolder":null`), header: map[string]string{
			"Warning": `299 - "mind the gap"`}},
		"DELETE /none": {status: 404, header: map[string]string{"Retry-After": "1"}, body: `{"kind":"Status","metadata":{},"status":"Failure",` +
			`"message":"leases \"none\" in NS not found","reason":"NotFound","details":{"name":"none","causes":[{"field":"one","message":"bad"},{"field":"two"}]}}`},
		"GET /a":       {body: b},
		"GET ?limit=2": {body: `{"kind":"LeaseList","metadata":{"resourceVersion":"105","continue":"abc"},"items":[` + a + `,` + b + `]}`},
		"GET": {body: `{"kind":"Table","metadata":{"resourceVersion":"105"},"columnDefinitions":[{"name":"Name","description":"what it is called"}],` +
			`"rows":[{"cells":["a","x","3d4h"],"object":` + a + `}]}`},
		"GET ?picked":    {body: `{"kind":"LeaseList","metadata":{"resourceVersion":"105"},"items":[` + a + `,` + b + `]}`},
		"POST ?generate": {status: 201, body: lease("gen-bcdfg", firstUID, "100", "")},
		"GET /managed": {body: `{"kind":"Lease","metadata":{"name":"managed","managedFields":[` +
			`{"manager":"one","operation":"Update","time":"2026-01-02T03:04:05Z"},{"manager":"two","operation":"Apply","time":"2026-01-02T03:04:06Z"}]}}`},
		"PATCH /a": {status: 409, body: `{"kind":"Status","details":{"causes":[{"reason":"FieldManagerConflict","field":".spec.a","message":"conflict with x"},` +
			`{"reason":"FieldManagerConflict","field":".spec.b","message":"conflict with y"}]}}`},
		"POST ?race":           {status: 201, body: a},
		"GET /yaml":            {header: map[string]string{"Content-Type": "application/yaml"}, body: "kind: Lease\nspec:\n  leaseDurationSeconds: 15\n"},
		"GET /text":            {header: map[string]string{"Content-Type": "text/plain"}, body: "a plain sentence"},
		"GET ?watch=live":      {events: []string{event("ADDED", a), event("MODIFIED", b)}, stays: true},
		"GET ?watch=short":     {events: []string{event("ADDED", a)}},
		"GET ?watch=initial":   {events: []string{event("ADDED", a), event("BOOKMARK", initialEvents)}, stays: true},
		"GET ?watch=bookmarks": {events: []string{event("BOOKMARK", `{"kind":"Lease","metadata":{"resourceVersion":"101"}}`)}},
		"GET ?watch=refused":   {status: 403, body: `{"kind":"Status","message":"no","reason":"Forbidden"}`},
		"GET ?watch=socket":    {status: 400, body: `{"kind":"Status","reason":"BadRequest"}`},
		"POST namespaces":      {status: 403},
	}}
}

func (s *stage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	scene, namespace := r.Method+" namespaces", ""
	if below, ok := strings.CutPrefix(r.URL.RequestURI(), "/apis/coordination.k8s.io/v1/namespaces/"); ok {
		var rest string
		namespace, rest, _ = strings.Cut(below, "/leases")
		scene = strings.TrimSpace(r.Method + " " + rest)
	}
	said, known := s.replies[scene]
	if !known {
		http.Error(w, "the stage has no "+scene, http.StatusTeapot)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if s.refusals.Add(-1) >= 0 {
		if s.retryAfter != "" {
			w.Header().Set("Retry-After", s.retryAfter)
		}
		w.WriteHeader(s.refusal)
		return
	}
	for name, value := range said.header {
		w.Header().Set(name, value)
	}
	w.Header()["Date"] = nil
	w.WriteHeader(max(said.status, http.StatusOK))
	body := said.body + strings.Join(said.events, "\n")
	_, _ = w.Write([]byte(strings.ReplaceAll(body, "NS", namespace)))
	_ = http.NewResponseController(w).Flush()
	if said.late != "" {
		time.Sleep(50 * time.Millisecond)
		_, _ = w.Write([]byte(said.late))
		_ = http.NewResponseController(w).Flush()
	}
	if said.stays {
		<-r.Context().Done()
	}
	if said.breaks {
		panic(http.ErrAbortHandler)
	}
}

// open returns the address of a server with this stage.
func (s *stage) open(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return server.URL
}

// openStory is the story, and what the honest stage answers in it as the recording.
func openStory(t *testing.T) *Corpus {
	t.Helper()
	files := fstest.MapFS{"story/cases/story.yaml": {Data: []byte(story)}}
	cases, err := readCases(files, "story/cases/story.yaml")
	require.NoError(t, err)
	answers := make(map[string][]Answer)
	server := Server{URLs: []string{honest().open(t)}, Token: "admin", UserToken: "user"}
	clients := server.newClients()
	t.Cleanup(clients.close)
	for _, one := range cases {
		answered, err := newConversation(&server, clients, 0, time.Second).hold(t.Context(), one)
		require.NoError(t, err, one.Name)
		answers[one.Name] = answered
	}
	files["story/answers/story.json"] = &fstest.MapFile{Data: []byte(jsonOf(answers))}
	corpus, err := load(files, "story")
	require.NoError(t, err)
	return corpus
}
