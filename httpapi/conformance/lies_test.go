package conformance

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A lie is a change of what the honest stage says, and what is noticed of it: the case, and the place in the step's answer.
type lie struct {
	scene  string
	change func(said *reply)
	notice []string
}

// says replaces a text in a reply's body and events, which must be there.
func says(before, now string) func(*reply) {
	return func(said *reply) {
		found := strings.Contains(said.body, before)
		said.body = strings.ReplaceAll(said.body, before, now)
		for i, event := range said.events {
			found = found || strings.Contains(event, before)
			said.events[i] = strings.ReplaceAll(event, before, now)
		}
		if !found {
			panic("the stage does not say " + before)
		}
	}
}

// sends sets a header; an empty value takes it away.
func sends(name, value string) func(*reply) {
	return func(said *reply) {
		header := map[string]string{name: value}
		for other, value := range said.header {
			if other != name {
				header[other] = value
			}
		}
		if value == "" {
			delete(header, name)
		}
		said.header = header
	}
}

func TestEveryLieIsNoticed(t *testing.T) {
	t.Parallel()
	corpus := openStory(t)
	for about, lie := range map[string]lie{
		"status": {"PUT /a", func(r *reply) { r.status = 201 }, []string{"write: status"}},

		"header value":   {"GET /yaml", sends("Content-Type", "application/yaml;v=2"), []string{"encodings: headers.Content-Type"}},
		"missing header": {"DELETE /none", sends("Retry-After", ""), []string{"refused: headers.Retry-After"}},
		"extra header":   {"DELETE /none", sends("Allow", "GET"), []string{"refused: headers.Allow"}},

		"warning for another":   {"PUT /a", sends("Warning", `299 - "mind the step"`), []string{"write: message warning 0"}},
		"warning missing":       {"PUT /a", sends("Warning", ""), []string{"write: headers.Warning 0", "write: message warning 0"}},
		"warning of other code": {"PUT /a", sends("Warning", `199 - "mind the gap"`), []string{"write: headers.Warning 0"}},

		"field value":          {"PUT /a", says(`:15`, `:16`), []string{"write: body.spec.leaseDurationSeconds"}},
		"number as text":       {"PUT /a", says(`:15`, `:"15"`), []string{"write: body.spec.leaseDurationSeconds"}},
		"number with fraction": {"PUT /a", says(`:15`, `:15.0`), []string{"write: body.spec.leaseDurationSeconds"}},
		"field missing":        {"PUT /a", says(`"leaseDurationSeconds":15,`, ``), []string{"write: body.spec.leaseDurationSeconds"}},
		"null missing":         {"PUT /a", says(`,"preferredHolder":null`, ``), []string{"write: body.spec.preferredHolder"}},
		"field too many":       {"PUT /a", says(`:15`, `:15,"strategy":null`), []string{"write: body.spec.strategy"}},
		"list for object":      {"POST ?generate", says(`{}`, `[]`), []string{"generated: body.spec"}},
		"two documents":        {"POST ?generate", says(`{}}`, `{}}{}`), []string{"generated: body"}},
		"no JSON":              {"POST ?generate", says(`{}}`, `{}`), []string{"generated: body"}},
		"no body":              {"POST ?generate", func(r *reply) { r.body = "" }, []string{"generated: body"}},

		"version that stayed": {"PUT /a", says(`"101"`, `"100"`), []string{"write: body.metadata.resourceVersion"}},
		"version that fell":   {"PUT /a", says(`"101"`, `"99"`), []string{"write: body.metadata.resourceVersion"}},
		"version of letters":  {"PUT /a", says(`"101"`, `"new"`), []string{"write: body.metadata.resourceVersion"}},
		"version as number":   {"PUT /a", says(`"101"`, `101`), []string{"write: body.metadata.resourceVersion"}},
		"another uid":         {"PUT /a", says(firstUID, secondUID), []string{"write: body.metadata.uid"}},
		"malformed uid":       {"POST ?generate", says(firstUID, "1111"), []string{"generated: body.metadata.uid"}},
		"time with fraction":  {"PUT /a", says("05Z", "05.000000Z"), []string{"write: body.metadata.creationTimestamp"}},
		"time with offset":    {"PUT /a", says("05Z", "05+00:00"), []string{"write: body.metadata.creationTimestamp"}},
		"another namespace":   {"PUT /a", says(`"NS"`, `"other"`), []string{"write: body.metadata.namespace"}},

		"list in another order": {"GET ?limit=2", func(r *reply) {
			a, b := lease("a", firstUID, "100", `"leaseDurationSeconds":15`), lease("b", secondUID, "101", `"holderIdentity":"x"`)
			says(a+","+b, b+","+a)(r)
		}, []string{"pages: body.items.0.metadata.name", "pages: body.items.1.metadata.name"}},
		"list without an item": {"GET ?limit=2", says(","+lease("b", secondUID, "101", `"holderIdentity":"x"`), ""), []string{"pages: body.items"}},
		"old list":             {"GET ?limit=2", says(`"105"`, `"100"`), []string{"pages: body.metadata.resourceVersion"}},
		"list of version zero": {"GET ?limit=2", says(`"105"`, `"0"`), []string{"pages: body.metadata.resourceVersion"}},
		"no token":             {"GET ?limit=2", says(`"continue":"abc"`, `"continue":""`), []string{"pages: body.metadata.continue"}},
		"status alone":         {"GET /a", func(r *reply) { r.status = 404 }, []string{"pages: status"}},

		"table without columns":      {"GET", says(`[{"name":"Name","description":"what it is called"}]`, `null`), []string{"table: body.columnDefinitions", "table: message columnDefinitions.0.description"}},
		"table of another cell":      {"GET", says(`"x"`, `"y"`), []string{"table: body.rows.0.cells.1"}},
		"table without an age":       {"GET", says(`"3d4h"`, `""`), []string{"table: body.rows.0.cells.2"}},
		"table with a time for age":  {"GET", says(`"3d4h"`, `"2026-01-02T03:04:05Z"`), []string{"table: body.rows.0.cells.2"}},
		"table of another describer": {"GET", says("is called", "is"), []string{"table: message columnDefinitions.0.description"}},

		"picked part":       {"GET ?picked", says(`"x"`, `"y"`), []string{"picked: body.items[metadata.name=b].spec.holderIdentity"}},
		"picked part gone":  {"GET ?picked", says(`"name":"b"`, `"name":"c"`), []string{"picked: body.items[metadata.name=b].spec.holderIdentity"}},
		"name not random":   {"POST ?generate", says("gen-bcdfg", "gen-1"), []string{"generated: body.metadata.name"}},
		"name with a vowel": {"POST ?generate", says("gen-bcdfg", "gen-bcdfa"), []string{"generated: body.metadata.name"}},

		"reason":              {"DELETE /none", says("NotFound", "Gone"), []string{"refused: body.reason"}},
		"causes out of order": {"DELETE /none", says(`{"field":"one","message":"bad"},{"field":"two"}`, `{"field":"two","message":"bad"},{"field":"one"}`), []string{"refused: body.details.causes.0.field", "refused: body.details.causes.1.field"}},
		"message":             {"DELETE /none", says("not found", "missing"), []string{"refused: message message"}},
		"message missing":     {"DELETE /none", says(`"message":"leases \"none\" in NS not found",`, ""), []string{"refused: message message"}},
		"message of a cause":  {"DELETE /none", says(`"bad"`, `"worse"`), []string{"refused: message details.causes.0.message"}},
		"plain text":          {"GET /text", says("plain", "planar"), []string{"encodings: message body"}},
		"conflicting field":   {"PATCH /a", says(".spec.b", ".spec.c"), []string{"conflicts: body.details.causes.1.field"}},

		"manager":                  {"GET /managed", says("one", "three"), []string{"managers: body.metadata.managedFields.1.manager"}},
		"manager's time":           {"GET /managed", says("06Z", "06.5Z"), []string{"managers: body.metadata.managedFields.0.time"}},
		"manager's entry too many": {"GET /managed", says(`[{`, `[{},{`), []string{"managers: body.metadata.managedFields"}},

		"lesser header":         {"POST", sends("Cache-Control", "public"), []string{"write: header Cache-Control"}},
		"lesser header missing": {"POST", sends("Audit-Id", ""), []string{"write: header Audit-Id"}},
		"lesser header extra":   {"POST", sends("Etag", "x"), []string{"write: header Etag"}},

		"race won twice":   {"POST ?race", func(r *reply) { r.status = 409 }, []string{"race: body.201", "race: body.409"}},
		"YAML of another":  {"GET /yaml", says("15", "16"), []string{"encodings: body.spec.leaseDurationSeconds"}},
		"connection cut":   {"GET /yaml", func(r *reply) { r.breaks = true }, []string{"encodings: error"}},
		"watch answered":   {"GET ?watch=refused", func(r *reply) { r.status = 200 }, []string{"watch-refused: status"}},
		"socket answered":  {"GET ?watch=socket", func(r *reply) { r.status = 200 }, []string{"socket: status"}},
		"socket's reasons": {"GET ?watch=socket", says("BadRequest", "Forbidden"), []string{"socket: body.reason"}},

		"event missing":              {"GET ?watch=live", func(r *reply) { r.events = r.events[:1] }, []string{"watch: events"}},
		"event too many":             {"GET ?watch=live", func(r *reply) { r.events = append(r.events, r.events[0]) }, []string{"watch: events"}},
		"event too many, late":       {"GET ?watch=live", func(r *reply) { r.late = r.events[0] }, []string{"watch: events"}},
		"events out of order":        {"GET ?watch=live", func(r *reply) { r.events = []string{r.events[1], r.events[0]} }, []string{"watch: events.0.object.metadata.name", "watch: events.1.object.metadata.resourceVersion"}},
		"event of another type":      {"GET ?watch=live", says("MODIFIED", "DELETED"), []string{"watch: events.1.type"}},
		"event's object":             {"GET ?watch=live", says(`"x"`, `"y"`), []string{"watch: events.1.object.spec.holderIdentity"}},
		"watch left open":            {"GET ?watch=short", func(r *reply) { r.stays = true }, []string{"watch-to-the-end: closed"}},
		"watch broken off":           {"GET ?watch=short", func(r *reply) { r.breaks = true }, []string{"watch-to-the-end: error"}},
		"last event missing":         {"GET ?watch=short", func(r *reply) { r.events = nil }, []string{"watch-to-the-end: events"}},
		"initial events do not end":  {"GET ?watch=initial", func(r *reply) { r.events = r.events[:1] }, []string{"initial-events: events"}},
		"initial events end in bare": {"GET ?watch=initial", says(`"k8s.io/initial-events-end":"true"`, ``), []string{"initial-events: events"}},
		"no bookmark":                {"GET ?watch=bookmarks", func(r *reply) { r.events = nil }, []string{"bookmarks: events.0"}},
	} {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			told := honest()
			said, known := told.replies[lie.scene]
			require.True(t, known)
			said.events = append([]string(nil), said.events...)
			lie.change(&said)
			told.replies[lie.scene] = said
			about, _, _ := strings.Cut(lie.notice[0], ":")
			noticed := noticedIn(t, corpus, about, told.open(t))
			for _, place := range lie.notice {
				assert.Contains(t, noticed, place)
			}
		})
	}
}

func TestTheTruthIsTakenForTheTruth(t *testing.T) {
	t.Parallel()
	assert.Empty(t, noticedIn(t, openStory(t), "", honest().open(t)))
}

// Uids, versions and random names differ from run to run, a list's version may be any later one, an age any age, and what
// has no order may come in any.
func TestWhatMayDifferIsNoDifference(t *testing.T) {
	t.Parallel()
	told := honest()
	for scene, changes := range map[string][]func(*reply){
		"POST":           {says(firstUID, "33333333-3333-3333-3333-333333333333"), says(`"100"`, `"7"`), says("2026-01-02T03:04:05Z", "2027-10-12T13:14:15Z")},
		"PUT /a":         {says(firstUID, "33333333-3333-3333-3333-333333333333"), says(`"101"`, `"9"`)},
		"GET ?limit=2":   {says(`"105"`, `"9999"`), says("abc", "def")},
		"GET":            {says(`3d4h`, `5s`)},
		"POST ?generate": {says("bcdfg", "xz245")},
		"GET /managed":   {says("05Z", "07Z")},
		"PATCH /a": {says(`{"reason":"FieldManagerConflict","field":".spec.a","message":"conflict with x"},{"reason":"FieldManagerConflict","field":".spec.b","message":"conflict with y"}`,
			`{"reason":"FieldManagerConflict","field":".spec.b","message":"conflict with y"},{"reason":"FieldManagerConflict","field":".spec.a","message":"conflict with x"}`)},
		"GET ?watch=live": {func(r *reply) {
			r.events = append(r.events, event("BOOKMARK", `{"kind":"Lease","metadata":{"resourceVersion":"102"}}`))
		}},
	} {
		said := told.replies[scene]
		for _, change := range changes {
			change(&said)
		}
		told.replies[scene] = said
	}
	assert.Empty(t, noticedIn(t, openStory(t), "", told.open(t)))
}

// noticedIn holds the case of that name, or all if it is empty, and returns each difference as "case: place".
func noticedIn(t *testing.T, corpus *Corpus, name string, urls ...string) []string {
	t.Helper()
	check := Check{
		Corpus:   corpus,
		Server:   Server{URLs: urls, Token: "admin", UserToken: "user"},
		Chosen:   func(one Case) bool { return name == "" || one.Name == name },
		Patience: time.Second,
	}
	report, err := check.Run(t.Context())
	require.NoError(t, err)
	var noticed []string
	for _, list := range [][]Difference{report.Differences, report.Messages.Differences, report.Headers.Differences} {
		for _, d := range list {
			noticed = append(noticed, strings.TrimPrefix(d.Case, "story/")+": "+d.Place)
		}
	}
	require.Equal(t, len(noticed) == 0, report.OK())
	return noticed
}
