package main

import (
	"net/http"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1alpha2 "k8s.io/api/coordination/v1alpha2"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
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
	object documented
	list   documented // nil of what cannot be listed
}

func allServed() []served {
	return []served{
		{discovery.Namespaces(), corev1.Namespace{}, corev1.NamespaceList{}},
		{discovery.Leases(), coordinationv1.Lease{}, coordinationv1.LeaseList{}},
		{discovery.Candidates("v1beta1"), coordinationv1beta1.LeaseCandidate{}, coordinationv1beta1.LeaseCandidateList{}},
		{discovery.Candidates("v1alpha2"), coordinationv1alpha2.LeaseCandidate{}, coordinationv1alpha2.LeaseCandidateList{}},
		{discovery.SelfSubjectReviews(), authenticationv1.SelfSubjectReview{}, nil},
		{discovery.SelfSubjectAccessReviews(), authorizationv1.SelfSubjectAccessReview{}, nil},
		{discovery.SelfSubjectRulesReviews(), authorizationv1.SelfSubjectRulesReview{}, nil},
	}
}

// routesByDocument gives each document of OpenAPI version 3 its routes; the document's name is its path without the
// slash.
func routesByDocument() map[string][]common.Route {
	documents := map[string][]common.Route{
		"version": {tell("/version/", "getCodeVersion", "version", "get the version information for this server", jsonAlone, version.Info{})},
		"api":     {tell("/api/", "getCoreAPIVersions", "core", "get available API versions", encodings, metav1.APIVersions{})},
		"apis":    {tell("/apis/", "getAPIVersions", "apis", "get available API versions", encodings, metav1.APIGroupList{})},
	}
	for _, r := range allServed() {
		if r.Group != "" {
			path, name := "apis/"+r.Group, r.groupName()
			documents[path] = []common.Route{
				tell("/"+path+"/", "get"+name+"APIGroup", strings.ToLower(name), "get information of a group", encodings, metav1.APIGroup{}),
			}
		}
		path := strings.TrimPrefix(r.root(), "/")
		if documents[path] == nil {
			documents[path] = []common.Route{
				tell(r.root()+"/", "get"+r.prefix()+"APIResources", r.tag(), "get available resources", encodings, metav1.APIResourceList{}),
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

// root is the path of the resource's version.
func (r *served) root() string {
	if r.Group == "" {
		return "/api/" + r.Version
	}
	return "/apis/" + r.Group + "/" + r.Version
}

// groupName is Coordination for coordination.k8s.io.
func (r *served) groupName() string {
	if r.Group == "" {
		return "Core"
	}
	first, _, _ := strings.Cut(r.Group, ".")
	return capital(first)
}

func (r *served) prefix() string { return r.groupName() + capital(r.Version) }

func (r *served) tag() string { return strings.ToLower(r.groupName()) + "_" + r.Version }

// routes are those of a resource's verbs, as they are in httpapi.
func (r *served) routes() []common.Route {
	some := r.root() + "/" + r.Plural
	var here []common.Parameter // of the path of some
	if r.Namespaced {
		some, here = r.root()+"/namespaces/{namespace}/"+r.Plural, []common.Parameter{namespace()}
	}
	one, withName := some+"/{name}", append(here[:len(here):len(here)], name(r.Kind))
	watched := r.root() + "/watch"
	const instead = "deprecated: use the 'watch' parameter with a list operation instead"
	list, remove := metav1.ListOptions{}, metav1.DeleteOptions{}
	var all []common.Route
	for _, verb := range r.Verbs {
		switch verb {
		case "list":
			all = append(all, r.verb("list", http.MethodGet, some, "", here, "list or watch objects of kind "+r.Kind).
				produced(withStreams).options(list).answers(r.list, http.StatusOK))
			if r.Namespaced {
				all = append(all, r.verb("list", http.MethodGet, r.root()+"/"+r.Plural, "ForAllNamespaces", nil, "list or watch objects of kind "+r.Kind).
					produced(withStreams).options(list).answers(r.list, http.StatusOK))
			}
		case "create":
			all = append(all, r.verb("post", http.MethodPost, some, "", here, article(r.Kind, "create")).
				options(metav1.CreateOptions{}).takes(r.object, true).answers(r.object, http.StatusOK, http.StatusCreated, http.StatusAccepted))
		case "deletecollection":
			all = append(all, r.verb("deletecollection", http.MethodDelete, some, "", here, "delete collection of "+r.Kind).
				options(remove).options(list, "watch", "allowWatchBookmarks").takes(remove, false).answers(metav1.Status{}, http.StatusOK))
		case "get":
			all = append(all, r.verb("get", http.MethodGet, one, "", withName, "read the specified "+r.Kind).
				answers(r.object, http.StatusOK))
		case "update":
			all = append(all, r.verb("put", http.MethodPut, one, "", withName, "replace the specified "+r.Kind).
				options(metav1.UpdateOptions{}).takes(r.object, true).answers(r.object, http.StatusOK, http.StatusCreated))
		case "patch":
			all = append(all, r.verb("patch", http.MethodPatch, one, "", withName, "partially update the specified "+r.Kind).
				consumed(patchTypes).options(metav1.PatchOptions{}).takes(metav1.Patch{}, true).answers(r.object, http.StatusOK, http.StatusCreated))
		case "delete":
			all = append(all, r.verb("delete", http.MethodDelete, one, "", withName, article(r.Kind, "delete")).
				options(remove).takes(remove, false).answers(metav1.Status{}, http.StatusOK, http.StatusAccepted))
		case "watch":
			all = append(all, r.verb("watchlist", http.MethodGet, strings.Replace(some, r.root(), watched, 1), "List", here, "watch individual changes to a list of "+r.Kind+". "+instead+".").
				produced(withStreams).options(list).answers(metav1.WatchEvent{}, http.StatusOK),
				r.verb("watch", http.MethodGet, strings.Replace(one, r.root(), watched, 1), "", withName, "watch changes to an object of kind "+r.Kind+". "+instead+
					", filtered to a single item with the 'fieldSelector' parameter.").
					produced(withStreams).options(list).answers(metav1.WatchEvent{}, http.StatusOK))
			if r.Namespaced {
				all = append(all, r.verb("watchlist", http.MethodGet, watched+"/"+r.Plural, "ListForAllNamespaces", nil, "watch individual changes to a list of "+r.Kind+". "+instead+".").
					produced(withStreams).options(list).answers(metav1.WatchEvent{}, http.StatusOK))
			}
		}
	}
	return all
}

// operationVerbs are the words that generated clients know the actions by.
var operationVerbs = map[string]string{"list": "list", "post": "create", "deletecollection": "delete", "get": "read",
	"put": "replace", "patch": "patch", "delete": "delete", "watchlist": "watch", "watch": "watch"}

func (r *served) verb(action, method, path, suffix string, parameters []common.Parameter, description string) *route {
	scope := ""
	if slices.ContainsFunc(parameters, func(p common.Parameter) bool { return p.Name() == "namespace" }) {
		scope = "Namespaced"
	}
	if action == "deletecollection" {
		scope = "Collection" + scope
	}
	return &route{
		method: method, path: path, tag: r.tag(), description: description,
		operation: operationVerbs[action] + r.prefix() + scope + r.Kind + suffix,
		consumes:  anyType, produces: encodings,
		parameters: append(parameters[:len(parameters):len(parameters)], pretty()),
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
