package workload

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/leasehold/leasehold/jepsen/history"
)

// The kinds of patch.
const (
	mergePatch     = "application/merge-patch+json"
	strategicPatch = "application/strategic-merge-patch+json"
	jsonPatch      = "application/json-patch+json"
)

const group = "/apis/coordination.k8s.io/v1"

// path is that of an object, of a namespace's objects ("ns/") or of all ("").
func path(key string) string {
	namespace, name, _ := strings.Cut(key, "/")
	switch {
	case namespace == "":
		return group + "/leases"
	case name == "":
		return group + "/namespaces/" + namespace + "/leases"
	}
	return group + "/namespaces/" + namespace + "/leases/" + name
}

// create posts a new object. With a Prefix the server makes the name.
func (w *worker) create(ctx context.Context, e Endpoint, c content) result {
	request := c.request()
	if len(c.Elements) > 0 {
		request.Append = c.Elements[len(c.Elements)-1]
	}
	return w.do(ctx, e, history.Create, request, message{method: "POST", path: path(c.namespace() + "/"), media: "application/json", body: c.whole()})
}

// update puts a whole object in place of the one that has the revision named, or, without one, where none is. The last
// of the elements is new if appending.
func (w *worker) update(ctx context.Context, e Endpoint, c content, unchanged, appending bool) result {
	f := history.Update
	if c.Revision == "" {
		f = history.Put
	}
	request := c.request()
	request.Same = unchanged
	if appending {
		request.Append = c.Elements[len(c.Elements)-1]
	}
	return w.do(ctx, e, f, request, message{method: "PUT", path: path(c.Key), media: "application/json", body: c.whole()})
}

// patch sets what the content names.
func (w *worker) patch(ctx context.Context, e Endpoint, c content, media string, unchanged bool) result {
	body := c.merge()
	if media == jsonPatch {
		body = c.steps("")
	}
	request := c.request()
	request.Same = unchanged
	return w.do(ctx, e, history.Patch, request, message{method: "PATCH", path: path(c.Key), media: media, body: body})
}

// push has the server append an element to those that an object has.
func (w *worker) push(ctx context.Context, e Endpoint, c content, element string) result {
	request := history.Request{Key: c.Key, ID: c.ID, UID: c.UID, Revision: c.Revision, Append: element, Blind: c.Revision == ""}
	return w.do(ctx, e, history.Patch, request, message{method: "PATCH", path: path(c.Key), media: jsonPatch, body: c.steps(element)})
}

// remove deletes an object, if its uid and revision are those named.
func (w *worker) remove(ctx context.Context, e Endpoint, key, uid, revision string) result {
	m := message{method: "DELETE", path: path(key)}
	if uid != "" || revision != "" {
		preconditions := map[string]any{}
		set(preconditions, "uid", uid)
		set(preconditions, "resourceVersion", revision)
		m.media, m.body = "application/json", encode(map[string]any{"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": preconditions})
	}
	r := w.do(ctx, e, history.Delete, history.Request{Key: key, ID: w.next(), UID: uid, Revision: revision}, m)
	return r
}

func (w *worker) get(ctx context.Context, e Endpoint, key string) result {
	return w.do(ctx, e, history.Get, history.Request{Key: key}, message{method: "GET", path: path(key)})
}

// list asks for one page, or for all. token says where a list goes on.
func (w *worker) list(ctx context.Context, e Endpoint, request history.Request, token string) result {
	namespaced, query := selecting(request)
	set := func(name, value string) {
		if value != "" {
			query.Set(name, value)
		}
	}
	set("continue", token)
	set("resourceVersion", request.Revision)
	set("resourceVersionMatch", request.Match)
	if request.Limit > 0 {
		query.Set("limit", strconv.Itoa(request.Limit))
	}
	return w.do(ctx, e, history.List, request, message{method: "GET", path: path(namespaced), query: query})
}

// selecting is where a list or watch is asked for, and by which selectors.
func selecting(request history.Request) (key string, query url.Values) {
	query = url.Values{}
	namespace, name, found := strings.Cut(request.Key, "/")
	if request.Group != "" {
		query.Set("labelSelector", history.GroupLabel+"="+request.Group)
	}
	if name != "" {
		query.Set("fieldSelector", "metadata.name="+name)
	}
	if found {
		return namespace + "/", query
	}
	return "", query
}
