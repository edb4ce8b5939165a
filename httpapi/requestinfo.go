package httpapi

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	internalscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Rights are decided on before it is known whether there is such a resource or method. So a request that nothing is
// served for has a resource, a name and a verb too: those that its path and its method would have by Kubernetes'
// conventions.

// infer fills in what a path that is not served would be about: /api/VERSION or /apis/GROUP/VERSION, then
// [namespaces/NAMESPACE/]RESOURCE[/NAME[/SUBRESOURCE...]]. Other paths are no resource's.
func (q *request) infer() {
	parts := strings.Split(strings.Trim(q.http.URL.Path, "/"), "/")
	if len(parts) < 3 {
		return
	}
	group := ""
	switch parts[0] {
	case "api":
		parts = parts[1:]
	case "apis":
		if len(parts) < 4 {
			return
		}
		group, parts = parts[1], parts[2:]
	default:
		return
	}
	q.group, q.version, parts = group, parts[0], parts[1:]
	prefix := ""
	if len(parts) > 1 && (parts[0] == "watch" || parts[0] == "proxy") { // older ways to say what is to be done
		prefix, parts = parts[0], parts[1:]
	}
	if parts[0] == "namespaces" && len(parts) > 1 {
		q.key.Namespace = parts[1]
		if len(parts) > 2 && parts[2] != "status" && parts[2] != "finalize" {
			parts = parts[2:]
		}
	}
	q.key.Resource = parts[0]
	if len(parts) > 1 {
		q.key.Name = parts[1]
	}
	if len(parts) > 2 && prefix != "proxy" {
		q.subresource = parts[2]
	}
	q.verb = prefix
}

// inferVerb fills in what a method means that the resource's path does not know.
func (q *request) inferVerb() {
	if q.verb == "watch" || q.verb == "proxy" {
		return
	}
	named := q.key.Name != ""
	switch q.http.Method {
	case http.MethodPost:
		q.verb = "create"
	case http.MethodPut:
		q.verb = "update"
	case http.MethodPatch:
		q.verb = "patch"
	case http.MethodDelete:
		q.verb = "delete"
		if !named {
			q.verb = "deletecollection"
		}
	case http.MethodGet, http.MethodHead:
		q.verb = "get"
		if !named {
			q.verb = "list"
			if wantsWatch(q.http.URL) {
				q.verb = "watch"
			}
		}
	default:
		q.verb = ""
	}
}

// wantsWatch tells whether a query asks for a watch: any value of watch but an absent one, false and 0 does.
func wantsWatch(u *url.URL) bool {
	if !strings.Contains(u.RawQuery, "watch") {
		return false
	}
	values := u.Query()["watch"]
	return len(values) > 0 && !slices.Contains([]string{"false", "0"}, strings.ToLower(values[0]))
}

// selectedName is the name that a request is about, of a list or a watch the one that its field selector fixes.
func (q *request) selectedName() string {
	if q.key.Name != "" || q.verb != "list" && q.verb != "watch" || !strings.Contains(q.http.URL.RawQuery, "fieldSelector") {
		return q.key.Name
	}
	var options internalversion.ListOptions
	err := internalscheme.ParameterCodec.DecodeParameters(q.http.URL.Query(), metav1.SchemeGroupVersion, &options)
	if err != nil || options.FieldSelector == nil {
		return ""
	}
	name, fixed := options.FieldSelector.RequiresExactMatch("metadata.name")
	if !fixed || len(content.IsPathSegmentName(name)) > 0 {
		return ""
	}
	return name
}
