package conformance

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// What is compared of a header's value, what is only counted, and what only has to be there.
var (
	comparedHeaders = []string{"Content-Type", "Content-Encoding", "Allow", "Retry-After", "Www-Authenticate", "Location"}
	lesserHeaders   = []string{"Cache-Control", "Vary", "X-Content-Type-Options"}
	presentHeaders  = []string{"Audit-Id", "X-Kubernetes-Pf-Flowschema-Uid", "X-Kubernetes-Pf-Prioritylevel-Uid", "Etag"}
)

// neutraliser takes out of one case's answers what differs from run to run, and keeps what must hold of it: uids and
// versions get numbers in the order of their first appearance, so that equal ones stay equal, and a version that is not the
// largest so far is called older. It sees the answers in the order of the steps.
type neutraliser struct {
	unique     string
	generated  []*regexp.Regexp
	prefixes   []string // of generated
	anyNumbers bool

	uids     map[string]string
	versions map[string]string
	newest   uint64

	soft      map[string]string // of the answer at hand
	sentences map[string]string
}

func newNeutraliser(one Case, unique string) *neutraliser {
	n := &neutraliser{
		unique:     unique,
		anyNumbers: one.AnyNumbers,
		uids:       make(map[string]string),
		versions:   make(map[string]string),
	}
	for _, prefix := range one.Generated {
		n.prefixes = append(n.prefixes, prefix)
		n.generated = append(n.generated, regexp.MustCompile(regexp.QuoteMeta(prefix)+`[bcdfghjklmnpqrstvwxz2456789]{5}\b`))
	}
	return n
}

// answer is the part of a response that the step compares. The response stays as it is.
func (n *neutraliser) answer(step Step, got *response) Answer {
	n.soft, n.sentences = make(map[string]string), make(map[string]string)
	answer := Answer{Request: step.Do, Status: got.status}
	if step.Collect != "" {
		answer.Request = "collect " + step.Collect
	}
	if step.Record == "status" {
		n.value(copied(got.body), "") // for the numbers of its uids and versions
		return answer
	}
	answer.Headers = n.headers(got)
	switch {
	case got.events != nil:
		answer.Events, answer.Closed = n.events(step, got.events), got.closed
	case len(step.Pick) > 0:
		picked := make(map[string]any)
		for _, place := range step.Pick {
			picked[place] = n.value(copied(at(got.body, place)), place)
		}
		answer.Body = picked
	default:
		answer.Body = n.value(copied(got.body), "")
	}
	answer.Soft, answer.sentences = n.soft, n.sentences
	return answer
}

func (n *neutraliser) headers(got *response) map[string]string {
	headers := make(map[string]string)
	for _, name := range comparedHeaders {
		// An upgraded connection has no Content-Type of its own.
		if value := got.header.Get(name); value != "" && (name != "Content-Type" || got.status != http.StatusSwitchingProtocols) {
			headers[name] = n.text(value)
		}
	}
	for i, warning := range got.header["Warning"] {
		parts := strings.SplitN(warning, " ", 3) // 299 - "a sentence"
		if len(parts) == 3 {
			n.sentence(fmt.Sprintf("warning %d", i), parts[2])
			parts = parts[:2]
		}
		headers[fmt.Sprintf("Warning %d", i)] = strings.Join(parts, " ")
	}
	for _, name := range lesserHeaders {
		if value := got.header.Get(name); value != "" {
			n.soft["header "+name] = value
		}
	}
	for _, name := range presentHeaders {
		if got.header.Get(name) != "" {
			n.soft["header "+name] = "present"
		}
	}
	return headers
}

func (n *neutraliser) events(step Step, events []any) []any {
	kept := []any{}
	bookmarks := false
	for _, event := range events {
		if !step.counts(event) {
			bookmarks = true
			continue
		}
		kept = append(kept, n.value(copied(event), fmt.Sprintf("event %d", len(kept))))
	}
	if step.Bookmarks == "some" {
		kept = append(kept, fmt.Sprintf("bookmark seen: %v", bookmarks))
	}
	return kept
}

// value neutralises plain values in place. The place tells sentences apart.
func (n *neutraliser) value(value any, place string) any {
	switch here := value.(type) {
	case map[string]any:
		n.object(here, place)
	case []any:
		for i := range here {
			here[i] = n.value(here[i], fmt.Sprintf("%s.%d", place, i))
		}
	case string:
		if place == "" && strings.Contains(here, " ") { // the body is a sentence
			n.sentence("body", here)
			return "<text>"
		}
		return n.text(here)
	}
	return value
}

func (n *neutraliser) object(object map[string]any, place string) {
	n.metadata(object)
	sortConflicts(object["causes"])
	speaks := object["kind"] == "Status" || strings.Contains(place, ".causes.")
	for _, name := range sortedKeys(object) {
		inner := strings.TrimPrefix(place+"."+name, ".")
		text, isText := object[name].(string)
		switch {
		case isText && (name == "description" || name == "message" && speaks):
			n.sentence(inner, text)
			delete(object, name)
			continue
		case name == "cells":
			hideAges(object[name])
		}
		object[name] = n.value(object[name], inner)
	}
}

// metadata neutralises what an object or a list tells of itself.
func (n *neutraliser) metadata(object map[string]any) {
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		return
	}
	for _, name := range []string{"creationTimestamp", "deletionTimestamp"} {
		if metadata[name] == nil {
			delete(metadata, name)
			continue
		}
		metadata[name] = moment(metadata[name])
	}
	sortManagers(metadata["managedFields"])
	if token, ok := metadata["continue"].(string); ok && token != "" {
		metadata["continue"] = "<continue>"
	}
	version, ok := metadata["resourceVersion"].(string)
	if !ok || version == "" || strings.HasPrefix(version, "<") {
		return // none, or done already
	}
	if !isOneObject(object, metadata) {
		for _, item := range members(object) {
			n.metadata(item)
		}
		metadata["resourceVersion"] = n.collectionVersion(version)
		return
	}
	metadata["resourceVersion"] = n.version(version)
}

// isOneObject is false for lists, tables and statuses, and for the object of a bookmark: their version is the store's.
func isOneObject(object, metadata map[string]any) bool {
	kind, _ := object["kind"].(string)
	if strings.HasSuffix(kind, "List") || kind == "Table" || kind == "Status" {
		return false
	}
	_, named := metadata["name"]
	return named || metadata["creationTimestamp"] != nil
}

// members are the objects of a list or of a table's rows.
func members(list map[string]any) []map[string]any {
	var objects []map[string]any
	items, _ := list["items"].([]any)
	rows, _ := list["rows"].([]any)
	for _, item := range append(items[:len(items):len(items)], rows...) {
		object, _ := item.(map[string]any)
		if inner, ok := object["object"].(map[string]any); ok {
			object = inner
		}
		if object != nil {
			objects = append(objects, object)
		}
	}
	return objects
}

// version gives an object's version its number.
func (n *neutraliser) version(version string) string {
	if known, ok := n.versions[version]; ok {
		return known
	}
	revision, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return version
	}
	name := fmt.Sprintf("<version %d>", len(n.versions)+1)
	if revision < n.newest {
		name = fmt.Sprintf("<version %d, older>", len(n.versions)+1)
	}
	n.newest = max(n.newest, revision)
	n.versions[version] = name
	return name
}

// collectionVersion keeps only whether a list is as new as everything seen: what else happens in the store moves it.
func (n *neutraliser) collectionVersion(version string) string {
	revision, err := strconv.ParseUint(version, 10, 64)
	switch {
	case err != nil:
		return "<not a number>"
	case revision == 0:
		return version
	case revision < n.newest:
		return "<older than newest>"
	}
	return "<newest or later>"
}

var uid = regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)

// text hides the names that are of this run alone.
func (n *neutraliser) text(text string) string {
	text = strings.ReplaceAll(text, n.unique, "<unique>")
	for i, pattern := range n.generated {
		text = pattern.ReplaceAllLiteralString(text, n.prefixes[i]+"<5 random>")
	}
	return uid.ReplaceAllStringFunc(text, func(found string) string {
		if n.uids[found] == "" {
			n.uids[found] = fmt.Sprintf("<uid %d>", len(n.uids)+1)
		}
		return n.uids[found]
	})
}

// moment hides a time of the form that metadata has: whole seconds, UTC.
func moment(value any) any {
	text, ok := value.(string)
	if _, err := time.Parse("2006-01-02T15:04:05Z", text); !ok || err != nil || len(text) != len("2006-01-02T15:04:05Z") {
		return value
	}
	return "<time>"
}

var age = regexp.MustCompile(`^([0-9]+[smhdy])+$`)

func hideAges(cells any) {
	row, _ := cells.([]any)
	for i := range row {
		if text, ok := row[i].(string); ok && age.MatchString(text) {
			row[i] = "<age>"
		}
	}
}

// sortManagers hides times and orders the entries of managedFields: their order hangs on the second of each write.
func sortManagers(managedFields any) {
	entries, _ := managedFields.([]any)
	key := func(entry any) string {
		e, _ := entry.(map[string]any)
		return fmt.Sprint(e["operation"], e["manager"], e["apiVersion"], e["subresource"])
	}
	for _, entry := range entries {
		if e, ok := entry.(map[string]any); ok && e["time"] != nil {
			e["time"] = moment(e["time"])
		}
	}
	slices.SortStableFunc(entries, func(a, b any) int { return strings.Compare(key(a), key(b)) })
}

// sortConflicts orders the causes of an apply conflict, which come in no order. Other causes have one.
func sortConflicts(causes any) {
	entries, _ := causes.([]any)
	key := func(cause any) string {
		c, _ := cause.(map[string]any)
		if c["reason"] != "FieldManagerConflict" {
			return ""
		}
		return fmt.Sprint(c["field"], " ", c["message"])
	}
	slices.SortStableFunc(entries, func(a, b any) int { return strings.Compare(key(a), key(b)) })
}
