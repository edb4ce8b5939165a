package main

import (
	"net/http"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1alpha2 "k8s.io/api/coordination/v1alpha2"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/kube-openapi/pkg/common"

	"github.com/leasehold/leasehold/httpapi/discovery"
)

var (
	anyType     = []string{"*/*"}
	jsonAlone   = []string{"application/json"}
	encodings   = []string{"application/json", "application/yaml", "application/vnd.kubernetes.protobuf"}
	withStreams = append(encodings[:3:3], "application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch")
	patchTypes  = []string{"application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json", "application/apply-patch+yaml"}
)

// served is a resource with samples of its types.
type served struct {
	discovery.Resource
	object, list documented
}

func allServed() []served {
	return []served{
		{discovery.Leases(), coordinationv1.Lease{}, coordinationv1.LeaseList{}},
		{discovery.Candidates("v1beta1"), coordinationv1beta1.LeaseCandidate{}, coordinationv1beta1.LeaseCandidateList{}},
		{discovery.Candidates("v1alpha2"), coordinationv1alpha2.LeaseCandidate{}, coordinationv1alpha2.LeaseCandidateList{}},
	}
}

// routesByDocument gives each document of OpenAPI version 3 its routes; the document's name is its path without the
// slash.
func routesByDocument() map[string][]common.Route {
	documents := map[string][]common.Route{
		"version": {tell("/version/", "getCodeVersion", "version", "get the version information for this server", jsonAlone, version.Info{})},
		"api":     {tell("/api/", "getCoreAPIVersions", "core", "get available API versions", encodings, metav1.APIVersions{})},
		"api/v1": {
			tell("/api/v1/", "getCoreV1APIResources", "core_v1", "get available resources", encodings, metav1.APIResourceList{}),
		},
		"apis": {tell("/apis/", "getAPIVersions", "apis", "get available API versions", encodings, metav1.APIGroupList{})},
	}
	for _, r := range allServed() {
		path, name := "apis/"+r.Group, r.groupName()
		documents[path] = []common.Route{
			tell("/"+path+"/", "get"+name+"APIGroup", strings.ToLower(name), "get information of a group", encodings, metav1.APIGroup{}),
		}
		path += "/" + r.Version
		if documents[path] == nil {
			documents[path] = []common.Route{
				tell("/"+path+"/", "get"+r.prefix()+"APIResources", r.tag(), "get available resources", encodings, metav1.APIResourceList{}),
			}
		}
		documents[path] = append(documents[path], r.routes()...)
	}
	return documents
}

func allRoutes() []common.Route {
	var all []common.Route
	for _, routes := range routesByDocument() {
		all = append(all, routes...)
	}
	return all
}

// tell is a path of discovery.
func tell(path, operation, tag, description string, types []string, model any) *route {
	return (&route{method: http.MethodGet, path: path, operation: operation, tag: tag, description: description,
		consumes: types, produces: types}).answers(model, http.StatusOK)
}

// groupName is Coordination for coordination.k8s.io.
func (r *served) groupName() string {
	first, _, _ := strings.Cut(r.Group, ".")
	return capital(first)
}

func (r *served) prefix() string { return r.groupName() + capital(r.Version) }

func (r *served) tag() string { return strings.ToLower(r.groupName()) + "_" + r.Version }

// routes are those of a namespaced resource, as they are in httpapi.
func (r *served) routes() []common.Route {
	root := "/apis/" + r.Group + "/" + r.Version
	all := root + "/" + r.Plural
	some := root + "/namespaces/{namespace}/" + r.Plural
	one := some + "/{name}"
	inNamespace, withName := []common.Parameter{namespace()}, []common.Parameter{namespace(), name(r.Kind)}
	watched := root + "/watch"
	const instead = "deprecated: use the 'watch' parameter with a list operation instead"
	list, remove := metav1.ListOptions{}, metav1.DeleteOptions{}
	return []common.Route{
		r.verb("list", http.MethodGet, all, "ForAllNamespaces", nil, "list or watch objects of kind "+r.Kind).
			produced(withStreams).options(list).answers(r.list, http.StatusOK),

		r.verb("list", http.MethodGet, some, "", inNamespace, "list or watch objects of kind "+r.Kind).
			produced(withStreams).options(list).answers(r.list, http.StatusOK),
		r.verb("post", http.MethodPost, some, "", inNamespace, article(r.Kind, "create")).
			options(metav1.CreateOptions{}).takes(r.object, true).answers(r.object, http.StatusOK, http.StatusCreated, http.StatusAccepted),
		r.verb("deletecollection", http.MethodDelete, some, "", inNamespace, "delete collection of "+r.Kind).
			options(remove).options(list, "watch", "allowWatchBookmarks").takes(remove, false).answers(metav1.Status{}, http.StatusOK),

		r.verb("get", http.MethodGet, one, "", withName, "read the specified "+r.Kind).
			answers(r.object, http.StatusOK),
		r.verb("put", http.MethodPut, one, "", withName, "replace the specified "+r.Kind).
			options(metav1.UpdateOptions{}).takes(r.object, true).answers(r.object, http.StatusOK, http.StatusCreated),
		r.verb("patch", http.MethodPatch, one, "", withName, "partially update the specified "+r.Kind).
			consumed(patchTypes).options(metav1.PatchOptions{}).takes(metav1.Patch{}, true).answers(r.object, http.StatusOK, http.StatusCreated),
		r.verb("delete", http.MethodDelete, one, "", withName, article(r.Kind, "delete")).
			options(remove).takes(remove, false).answers(metav1.Status{}, http.StatusOK, http.StatusAccepted),

		r.verb("watchlist", http.MethodGet, watched+"/"+r.Plural, "ListForAllNamespaces", nil, "watch individual changes to a list of "+r.Kind+". "+instead+".").
			produced(withStreams).options(list).answers(metav1.WatchEvent{}, http.StatusOK),
		r.verb("watchlist", http.MethodGet, strings.Replace(some, root, watched, 1), "List", inNamespace, "watch individual changes to a list of "+r.Kind+". "+instead+".").
			produced(withStreams).options(list).answers(metav1.WatchEvent{}, http.StatusOK),
		r.verb("watch", http.MethodGet, strings.Replace(one, root, watched, 1), "", withName, "watch changes to an object of kind "+r.Kind+". "+instead+
			", filtered to a single item with the 'fieldSelector' parameter.").
			produced(withStreams).options(list).answers(metav1.WatchEvent{}, http.StatusOK),
	}
}

// operationVerbs are the words that generated clients know the actions by.
var operationVerbs = map[string]string{"list": "list", "post": "create", "deletecollection": "delete", "get": "read",
	"put": "replace", "patch": "patch", "delete": "delete", "watchlist": "watch", "watch": "watch"}

func (r *served) verb(action, method, path, suffix string, parameters []common.Parameter, description string) *route {
	scope := "Namespaced"
	if action == "deletecollection" {
		scope = "CollectionNamespaced"
	}
	if len(parameters) == 0 {
		scope = ""
	}
	return &route{
		method: method, path: path, tag: r.tag(), description: description,
		operation: operationVerbs[action] + r.prefix() + scope + r.Kind + suffix,
		consumes:  anyType, produces: encodings,
		parameters: append(parameters, pretty()),
		extensions: map[string]any{
			"x-kubernetes-action":             action,
			"x-kubernetes-group-version-kind": kindMap(schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}),
		},
	}
}

func (r *route) produced(types []string) *route { r.produces = types; return r }
func (r *route) consumed(types []string) *route { r.consumes = types; return r }

func namespace() common.Parameter {
	return parameter{name: "namespace", kind: common.PathParameterKind, required: true, dataType: "string",
		description: "object name and auth scope, such as for teams and projects"}
}

func name(kind string) common.Parameter {
	return parameter{name: "name", kind: common.PathParameterKind, required: true, dataType: "string",
		description: "name of the " + kind}
}

func pretty() common.Parameter {
	return parameter{name: "pretty", kind: common.QueryParameterKind, dataType: "string",
		description: "If 'true', then the output is pretty printed. Defaults to 'false' unless the user-agent indicates a browser or command-line HTTP tool (curl and wget)."}
}

func capital(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

func article(kind, verb string) string {
	if strings.ContainsRune("AEIOU", rune(kind[0])) {
		return verb + " an " + kind
	}
	return verb + " a " + kind
}
